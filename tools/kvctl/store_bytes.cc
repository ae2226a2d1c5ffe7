#include "tools/kvctl/store_bytes.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "libkvclient/base/path_error.h"
#include "libkvclient/base/units.h"
#include "tools/kvctl/exit_status.h"

namespace kvtier::ctl {
namespace {

constexpr std::uint64_t kWindowBytes = kMiB;

[[noreturn]] void fail_open(const std::string& path, int error) {
  const Status status = path_error("open(" + path + ")", error);
  if (status.code() == Code::kDenied)
    throw Failure(kExitDenied, "denied", status.message() + "; run as the daemon's user, or as root");
  throw Failure(kExitFailed, std::string(code_name(status.code())), status.message());
}

}  // namespace

// Without blocking, so that a pipe of that name is told and not waited for.
StoreBytes::StoreBytes(const std::string& path)
    : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (!fd_.is_open()) fail_open(path, errno);
  struct stat facts {};
  if (::fstat(fd_.get(), &facts) != 0) fail_open(path, errno);
  if (!S_ISREG(facts.st_mode)) throw Failure(kExitFailed, "invalid", path + " is not a regular file");
  size_ = static_cast<std::uint64_t>(facts.st_size);
}

bool StoreBytes::is_in_use() const {
  if (::flock(fd_.get(), LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  (void)::flock(fd_.get(), LOCK_UN);
  return false;
}

std::span<const std::byte> StoreBytes::fill(std::vector<std::byte>& buffer, std::uint64_t offset,
                                            std::uint64_t bytes) {
  if (buffer.size() < bytes) buffer.resize(bytes);
  std::uint64_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        ::pread(fd_.get(), buffer.data() + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      ++failed_count_;
      error_ = errno;
    }
    if (got <= 0) break;
    done += static_cast<std::uint64_t>(got);
  }
  return std::span(buffer).first(done);
}

std::span<const std::byte> StoreBytes::read(std::uint64_t offset, std::uint64_t bytes) {
  return fill(buffer_, offset, bytes);
}

std::span<const std::byte> StoreBytes::peek(std::uint64_t offset, std::uint64_t bytes) {
  const bool is_inside = offset >= window_offset_ && offset + bytes <= window_offset_ + window_bytes_;
  if (!is_inside) {
    window_bytes_ = fill(window_, offset, std::max(bytes, kWindowBytes)).size();
    window_offset_ = offset;
  }
  const std::uint64_t at = offset - window_offset_;
  return std::span(window_).subspan(at, std::min(bytes, window_bytes_ - at));
}

std::string read_first(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::array<char, 256> text{};
  const ssize_t length = fd.is_open() ? ::read(fd.get(), text.data(), text.size()) : 0;
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

}  // namespace kvtier::ctl
