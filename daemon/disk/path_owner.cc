#include "daemon/disk/path_owner.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>

#include "daemon/io/place_error.h"

namespace kvtier {
namespace {

struct OpenedFile {
  UniqueFd fd;
  bool is_created = false;
};

// O_NONBLOCK: a pipe of that name is no reason to wait. Means nothing for regular files.
Result<OpenedFile> open_regular(int folder, const std::string& path, int flags) {
  const char* name = path.c_str() + path.rfind('/') + 1;
  flags |= O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  OpenedFile file{.fd = UniqueFd(::openat(folder, name, flags | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR)),
                  .is_created = true};
  if (!file.fd.is_open() && errno == EEXIST) file = {UniqueFd(::openat(folder, name, flags)), false};
  if (!file.fd.is_open()) return file_error("open(" + path + ")", path, errno);
  struct stat facts {};
  if (::fstat(file.fd.get(), &facts) != 0) return Status::from_errno("fstat(" + path + ")", errno);
  if (!S_ISREG(facts.st_mode)) return Status(Code::kInvalid, path + " is not a regular file; move it away");
  return file;
}

std::string holder_of(int lock) {
  std::array<char, 256> text{};
  const ssize_t length = ::pread(lock, text.data(), text.size() - 1, 0);
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length))
                    : "one that has not said who it is";
}

// Whoever made a lock and was refused removes it: what was locked may have no name any more.
bool has_name(int file, int folder, const char* name) {
  struct stat held {};
  struct stat named {};
  return ::fstat(file, &held) == 0 && ::fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

Status take_lock(OwnedPath& path, int folder, const PathOwnerOptions& options) {
  constexpr int kTriesMax = 8;
  for (int i = 0; i < kTriesMax; ++i) {
    Result<OpenedFile> opened = open_regular(folder, options.folder + "/" + kStoreLockName, 0);
    if (!opened.is_ok()) return opened.status();
    const int lock = opened.value().fd.get();
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return Status::from_errno("flock in " + options.folder, errno);
      return {Code::kExists, options.folder + " is in use by instance " + holder_of(lock) +
                                 ": give each path of each daemon a folder of its own"};
    }
    if (!has_name(lock, folder, kStoreLockName)) continue;
    path.is_lock_created = opened.value().is_created;
    path.lock = std::move(opened.value().fd);
    const bool is_written =
        ::ftruncate(lock, 0) == 0 && ::pwrite(lock, options.instance.data(), options.instance.size(), 0) >= 0;
    return is_written ? Status::ok()
                      : Status::from_errno("writing the lock file in " + options.folder, errno);
  }
  return {Code::kExists, options.folder + " is being opened by others: give each daemon a folder of its own"};
}

// Who wrote here may be dead and its last writes still on their way: they hold the file, and so its lock.
Status wait_for_writes(int data, const std::string& folder) {
  constexpr int kTriesMax = 1000;
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 10'000'000};
  for (int i = 0; i < kTriesMax; ++i) {
    if (::flock(data, LOCK_EX | LOCK_NB) == 0) return Status::ok();
    if (errno != EWOULDBLOCK) return Status::from_errno("flock in " + folder, errno);
    ::nanosleep(&kPause, nullptr);
  }
  return {Code::kExists,
          folder + ": requests of a process that died are not over after 10 s: the device hangs"};
}

Status take_data(OwnedPath& path, int folder, const PathOwnerOptions& options) {
  Result<OpenedFile> opened =
      open_regular(folder, options.folder + "/" + kStoreFileName, options.use_direct ? O_DIRECT : 0);
  if (!opened.is_ok()) return opened.status();
  path.is_created = opened.value().is_created;
  path.data = std::move(opened.value().fd);
  KV_RETURN_IF_ERROR(wait_for_writes(path.data.get(), options.folder));
  struct stat facts {};
  if (::fstat(path.data.get(), &facts) != 0) return Status::from_errno("fstat in " + options.folder, errno);
  path.bytes = path.bytes_found = static_cast<std::uint64_t>(facts.st_size);
  const Result<FileHome> home = read_file_home(path.data.get());
  if (!home.is_ok()) return home.status().while_doing("opening a file in " + options.folder);
  path.home = home.value();
  return Status::ok();
}

}  // namespace

// The lock goes last: until then nobody else looks at the folder.
void disown_path(OwnedPath& path) {
  if (path.data.is_open() && path.bytes > path.bytes_found &&
      ::ftruncate(path.data.get(), static_cast<off_t>(path.bytes_found)) == 0)
    path.bytes = path.bytes_found;
  if (path.is_created) (void)::unlink((path.folder + "/" + kStoreFileName).c_str());
  if (path.is_lock_created) (void)::unlink((path.folder + "/" + kStoreLockName).c_str());
  path.is_created = path.is_lock_created = false;
}

Result<OwnedPath> own_path(const PathOwnerOptions& options) {
  const UniqueFd folder(::open(options.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return folder_error("open(" + options.folder + ")", options.folder, errno);
  OwnedPath path{.folder = options.folder};
  Status status = take_lock(path, folder.get(), options);
  if (status.is_ok()) status = take_data(path, folder.get(), options);
  if (status.is_ok()) return path;
  disown_path(path);
  return status;
}

}  // namespace kvtier
