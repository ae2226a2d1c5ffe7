#pragma once
// One write, one read of the same bytes, and a look at them: the unit of all probing.

#include <memory>

#include "daemon/io/io_backend.h"
#include "libkvclient/base/result.h"

namespace kvtier {

/// The largest alignment that is tried: what is written at once at most.
inline constexpr std::uint32_t kRoundTripBytesMax = 64 * 1024;

struct RoundTrip {
  int fd = -1;
  std::uint32_t alignment = 1;  ///< exact: of the offset, the length and the address; no more than that
};

/// Writes and reads `alignment` bytes (1: a page) at that offset through the backend, which it uses up. The failed call
/// with errno, kDeadline, or kCorrupt when other bytes came back. Otherwise what the backend says of itself, asked while
/// the memory was on its table.
Result<IoFacts> round_trip(std::unique_ptr<IoBackend> backend, const RoundTrip& options);

}  // namespace kvtier
