#include "daemon/io/uring_refusal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "daemon/io/io_status.h"
#include "libkvclient/base/unique_fd.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

constexpr std::uint64_t kRegionBytesMax = kGiB;

/// 0: open to all, 1: to a group, 2: to nobody; ' ': the kernel has no such switch.
char disabled_switch() {
  const UniqueFd fd(::open("/proc/sys/kernel/io_uring_disabled", O_RDONLY | O_CLOEXEC));
  char value = ' ';
  return fd.is_open() && ::read(fd.get(), &value, 1) == 1 ? value : ' ';
}

std::string denied_by() {
  const char value = disabled_switch();
  if (value == '2') return "sysctl kernel.io_uring_disabled is 2: set it to 0";
  if (value == '1')
    return "sysctl kernel.io_uring_disabled is 1: set it to 0, or kernel.io_uring_group to our group";
  return "a seccomp filter (container runtime, SystemCallFilter=) forbids it: allow io_uring_setup, "
         "io_uring_enter and "
         "io_uring_register";
}

}  // namespace

Status uring_refusal(std::string_view call, int error_number) {
  const std::string message = Status::from_errno(call, error_number).message();
  switch (error_number) {
    case EPERM:
    case EACCES:
      return {Code::kDenied, message + "; " + denied_by()};
    case ENOSYS:
      return {Code::kUnsupported,
              message + "; the kernel was built without io_uring, or a seccomp filter hides it"};
    case ENOMEM:
      return {Code::kNoSpace, message + "; " + memory_lock_limit() + ": raise it, or the memory limit"};
    case EMFILE:
    case ENFILE:
      return {Code::kNoSpace, message + "; raise the limit of descriptors (LimitNOFILE=, ulimit -n)"};
    default:
      return io_error(call, error_number);
  }
}

std::string uring_depth_reason(std::uint32_t wished, std::uint32_t depth, int error_number) {
  if (depth >= wished) return {};
  const std::string ring = "a ring of " + std::to_string(wished);
  if (error_number == 0) return ring + " is more than the kernel makes";
  return ring + ": " + uring_refusal("io_uring_setup", error_number).message();
}

std::string uring_region_reason(std::uint64_t bytes, int error_number) {
  const std::string call = "io_uring_register_buffers of " + format_size(bytes);
  std::string message = Status::from_errno(call, error_number).message();
  if (bytes > kRegionBytesMax) return message + "; the kernel registers 1 GiB at once: lower host.slab_bytes";
  if (error_number != ENOMEM && error_number != EPERM) return message;
  return message + "; " + memory_lock_limit() +
         ", counted for all programs of this user: raise it above host.bytes " +
         "(LimitMEMLOCK= of the unit, ulimit -l)";
}

}  // namespace kvtier
