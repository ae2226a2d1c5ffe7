#include "daemon/io/io_engine.h"

#include "daemon/io/posix_backend.h"
#include "daemon/io/uring_backend.h"

namespace kvtier {
namespace {

PosixOptions posix_options(const IoEngineOptions& options, std::string reason) {
  return {.threads = options.depth, .files_max = options.files_max, .reason = std::move(reason)};
}

}  // namespace

Result<std::unique_ptr<IoBackend>> open_io_engine(const IoEngineOptions& options) {
  if (options.engine == IoEngine::kPosix) return open_posix(posix_options(options, {}));
  Result<std::unique_ptr<IoBackend>> uring =
      open_uring({.depth = options.depth,
                  .files_max = options.files_max,
                  .regions_max = options.regions_max,
                  .use_registered_buffers = options.use_registered_buffers});
  if (uring.is_ok() || options.engine == IoEngine::kUring) return uring;
  return open_posix(posix_options(options, uring.status().message()));
}

}  // namespace kvtier
