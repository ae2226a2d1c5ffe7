#include "daemon/io/io_status.h"

#include <sys/resource.h>

#include <cerrno>

#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

Code code_of(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
      return Code::kNoSpace;
    case EROFS:
    case EACCES:
    case EPERM:
      return Code::kDenied;
    case ENOSYS:
    case EOPNOTSUPP:
      return Code::kUnsupported;
    default:
      return Code::kSystem;
  }
}

std::string call_of(const IoRequest& request) {
  if (request.kind == IoKind::kSync) return "fdatasync";
  return (request.kind == IoKind::kRead ? "read of " : "write of ") + std::to_string(request.bytes) +
         " bytes at " + std::to_string(request.offset);
}

}  // namespace

std::string_view io_advice(int error_number) {
  switch (error_number) {
    case ENOSPC:
      return "free space on this file system, or configure fewer bytes for this path";
    case EDQUOT:
      return "raise the quota of the daemon's user";
    case EFBIG:
      return "raise the file size limit (LimitFSIZE= of the unit, ulimit -f)";
    case EROFS:
      return "the file system is read-only: look into the kernel log, remount it, or configure another path";
    case EIO:
      return "the device or its file system failed: look into the kernel log";
    case ENODEV:
    case ENXIO:
      return "the device is gone: configure another path, or bring it back";
    case EINVAL:
      return "the file system does not take this size, offset or alignment with O_DIRECT";
    case EOPNOTSUPP:
      return "the device or its file system cannot do this";
    default:
      return {};
  }
}

Status io_error(std::string_view call, int error_number) {
  std::string message = Status::from_errno(call, error_number).message();
  const std::string_view advice = io_advice(error_number);
  if (!advice.empty()) message.append("; ").append(advice);
  return {code_of(error_number), std::move(message)};
}

Status io_event_status(const IoEvent& event) {
  const std::string call = call_of(event.request);
  switch (event.outcome) {
    case IoOutcome::kDone:
      return Status::ok();
    case IoOutcome::kReleased:
      return event.error == 0 ? Status::ok() : io_error(call, event.error);
    case IoOutcome::kFailed:
      return io_error(call, event.error);
    case IoOutcome::kEndOfFile:
      return {Code::kCorrupt, call + ": the file ends after " + std::to_string(event.bytes) + " of them"};
    case IoOutcome::kDeadline:
      return {Code::kDeadline, call + ": the device did not answer in time"};
    case IoOutcome::kCancelled:
      return {Code::kStale, call + ": cancelled"};
  }
  return {Code::kSystem, call + ": unknown outcome"};
}

std::string memory_lock_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return "RLIMIT_MEMLOCK is not known";
  return "RLIMIT_MEMLOCK is " + (limit.rlim_cur == RLIM_INFINITY ? "unlimited" : format_size(limit.rlim_cur));
}

}  // namespace kvtier
