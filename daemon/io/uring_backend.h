#pragma once
// io_uring (adapter of liburing): batched submission, registered files and memory.

#include <memory>

#include "daemon/io/io_backend.h"
#include "libkvclient/base/result.h"

namespace kvtier {

struct UringOptions {
  std::uint32_t depth = 64;
  std::uint32_t files_max = 64;
  std::uint32_t regions_max = 1024;
  bool use_registered_buffers = true;
  /// Polls the device for completions: reads and writes of files with O_DIRECT only, no sync. A ring that opens so
  /// may still fail each request: probe first.
  bool use_polling = false;
};

/// Opens the ring and sends one empty operation through it. Fewer operations under way than wished for, and files or
/// memory that the kernel does not register, are facts; a ring that is denied or does not work is a failure that says
/// by whom and what to change.
Result<std::unique_ptr<IoBackend>> open_uring(const UringOptions& options);

}  // namespace kvtier
