// Loaded into a real daemon by LD_PRELOAD: what its threads read, write and sync below a folder fails, or hangs, as a file
// says (bad_disk.h). Any other call is the system's. Only the posix backend is reached: io_uring makes no calls.

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum class Kind { kRead, kWrite };

struct Rule {
  bool is_stall = false;
  int error = 0;  ///< 0: none
};

// "ACTION KINDS FOLDER" on one line; empty: all is well.
Rule rule_for(Kind kind, int fd) {
  const char* control = std::getenv("KVTIER_BAD_DISK");
  if (control == nullptr) return {};
  const auto file = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, control, O_RDONLY | O_CLOEXEC));
  if (file < 0) return {};
  std::array<char, 1024> text{};
  const long bytes = ::syscall(SYS_read, file, text.data(), text.size() - 1);
  (void)::syscall(SYS_close, file);
  std::array<char, 16> action{};
  std::array<char, 4> kinds{};
  std::array<char, 512> folder{};
  if (bytes <= 0 ||
      std::sscanf(text.data(), "%15s %3s %511s", action.data(), kinds.data(), folder.data()) != 3)
    return {};
  if (std::strchr(kinds.data(), kind == Kind::kRead ? 'r' : 'w') == nullptr) return {};
  std::array<char, 64> link{};
  (void)std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", fd);
  std::array<char, 1024> path{};
  if (::readlink(link.data(), path.data(), path.size() - 1) <= 0) return {};
  if (std::strncmp(path.data(), folder.data(), std::strlen(folder.data())) != 0) return {};
  if (std::strcmp(action.data(), "stall") == 0) return {.is_stall = true};
  return {.error = std::atoi(action.data())};
}

// False: errno says why the call fails.
bool passes(Kind kind, int fd) {
  const int kept = errno;
  Rule rule = rule_for(kind, fd);
  for (; rule.is_stall; rule = rule_for(kind, fd)) ::usleep(1000);
  errno = rule.error == 0 ? kept : rule.error;
  return rule.error == 0;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) ssize_t pread64(int fd, void* to, size_t bytes, off64_t offset) {
  return passes(Kind::kRead, fd) ? ::syscall(SYS_pread64, fd, to, bytes, offset) : -1;
}
__attribute__((visibility("default"))) ssize_t pread(int fd, void* to, size_t bytes, off_t offset) {
  return pread64(fd, to, bytes, offset);
}
__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void* from, size_t bytes,
                                                        off64_t offset) {
  return passes(Kind::kWrite, fd) ? ::syscall(SYS_pwrite64, fd, from, bytes, offset) : -1;
}
__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void* from, size_t bytes, off_t offset) {
  return pwrite64(fd, from, bytes, offset);
}
__attribute__((visibility("default"))) int fdatasync(int fd) {
  return passes(Kind::kWrite, fd) ? static_cast<int>(::syscall(SYS_fdatasync, fd)) : -1;
}
}
