#include "daemon/session/socket_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>

#include "libkvclient/base/path_error.h"

namespace kvtier {
namespace {

Result<UniqueFd> open_lock_file(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!file.is_open()) return path_error("open(" + path + ")", errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return Status::from_errno("fstat(" + path + ")", errno);
  if (!S_ISREG(info.st_mode)) return Status(Code::kInvalid, path + " is not a regular file");
  return file;
}

std::string holder_of(int file) {
  std::array<char, 16> text{};
  const ssize_t length = ::pread(file, text.data(), text.size() - 1, 0);
  std::string pid(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  while (!pid.empty() && pid.back() == '\n') pid.pop_back();
  return pid.empty() ? "pid not recorded yet" : "pid " + pid;
}

Status record_pid(int file, const std::string& path) {
  const std::string text = std::to_string(::getpid()) + "\n";
  if (::ftruncate(file, 0) != 0) return Status::from_errno("ftruncate(" + path + ")", errno);
  if (::pwrite(file, text.data(), text.size(), 0) < 0)
    return Status::from_errno("write(" + path + ")", errno);
  return Status::ok();
}

}  // namespace

Result<SocketLock> SocketLock::take(const std::string& socket_path) {
  const std::string path = socket_path + ".lock";
  Result<UniqueFd> file = open_lock_file(path);
  if (!file.is_ok()) return file.status();
  const int fd = file.value().get();
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return Status::from_errno("flock(" + path + ")", errno);
    return Status(Code::kExists,
                  "already running (" + holder_of(fd) + "): it owns " + socket_path +
                      "; stop that one, or give this one its own runtime_dir, socket and admin_socket");
  }
  KV_RETURN_IF_ERROR(record_pid(fd, path));
  return SocketLock(std::move(file).value());
}

}  // namespace kvtier
