#pragma once
// What follows from one completion of a request: the one place that knows short transfers and interruptions.

#include <cstdint>

#include "daemon/io/io_types.h"

namespace kvtier {

/// Completions in a row that move nothing, after which a request fails.
inline constexpr std::uint32_t kIoRetriesMax = 8;

struct IoTransfer {
  IoKind kind = IoKind::kRead;
  std::uint32_t bytes = 0;      ///< of the whole request
  std::uint32_t done = 0;       ///< before this completion
  std::uint32_t alignment = 1;  ///< of the file: the rest of a transfer starts at a multiple of it
  std::uint32_t retries = 0;    ///< completions in a row that moved nothing
};

enum class IoStep : std::uint8_t { kFinished, kAgain, kEndOfFile, kFailed };

struct IoProgress {
  IoStep step = IoStep::kFailed;
  std::uint32_t done = 0;  ///< after it; with kAgain where the rest starts
  int error = 0;           ///< errno, positive; with kFailed
};

/// `result`: bytes or -errno of the transfer that started at `done`. Bytes are never taken for moved because the
/// request wanted them.
IoProgress io_progress(const IoTransfer& transfer, std::int32_t result);

}  // namespace kvtier
