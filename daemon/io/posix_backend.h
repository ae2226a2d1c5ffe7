#pragma once
// Threads that call pread, pwrite and fdatasync: where io_uring is denied, and as the plain reference.

#include <memory>
#include <string>

#include "daemon/io/io_backend.h"
#include "libkvclient/base/result.h"

namespace kvtier {

inline constexpr std::uint32_t kPosixThreadsMax = 64;

struct PosixOptions {
  std::uint32_t threads = 16;  ///< that is the depth
  std::uint32_t files_max = 64;
  std::string reason;  ///< why this engine, for facts(); empty: it was wished for
};

/// Starts the threads. kSystem when there are none to have.
Result<std::unique_ptr<IoBackend>> open_posix(const PosixOptions& options);

}  // namespace kvtier
