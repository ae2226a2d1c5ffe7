#pragma once
// The outcome of a call on a path that somebody chose.

#include <cerrno>
#include <string_view>

#include "libkvclient/base/status.h"

namespace kvtier {

/// Status::from_errno, but kNotFound where a folder is missing and kDenied for permissions and read-only file
/// systems: what whoever named the path can correct.
inline Status path_error(std::string_view call, int error_number) {
  Status status = Status::from_errno(call, error_number);
  if (error_number == ENOENT || error_number == ENOTDIR) return {Code::kNotFound, status.message()};
  if (error_number == EACCES || error_number == EPERM || error_number == EROFS)
    return {Code::kDenied, status.message()};
  return status;
}

}  // namespace kvtier
