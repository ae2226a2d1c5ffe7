#pragma once
// Chooses the backend: io_uring where it works, threads where it does not.

#include <memory>

#include "daemon/io/io_backend.h"
#include "libkvclient/base/result.h"

namespace kvtier {

enum class IoEngine : std::uint8_t {
  kAuto,   ///< uring, else posix with the reason in facts()
  kUring,  ///< or a failure with the reason
  kPosix
};

struct IoEngineOptions {
  IoEngine engine = IoEngine::kAuto;
  std::uint32_t depth = 64;
  std::uint32_t files_max = 64;
  std::uint32_t regions_max = 1024;
  bool use_registered_buffers = true;
};

Result<std::unique_ptr<IoBackend>> open_io_engine(const IoEngineOptions& options);

}  // namespace kvtier
