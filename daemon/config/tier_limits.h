#pragma once
// What settings come to beyond themselves: shared by the daemon and by whoever plans for one.

#include <algorithm>
#include <cstdint>

#include "libkvclient/base/units.h"

namespace kvtier {

/// Blocks that an index has room for, whatever the settings.
inline constexpr std::uint64_t kIndexBlocksMax = 1ULL << 30;

/// No larger block goes to disk: a slab bounds it, a segment holds four at least, and one write has a limit.
constexpr std::uint64_t nvme_block_bytes_max(std::uint64_t slab_bytes, std::uint64_t segment_bytes) {
  constexpr std::uint64_t kBlockBytesMost = 64 * kMiB;
  constexpr std::uint64_t kSegmentShare = 4;
  return std::min({slab_bytes, segment_bytes / kSegmentShare, kBlockBytesMost});
}

/// Of the write budget of a day what moving blocks that are worth keeping gets; new blocks get the rest.
constexpr std::uint64_t nvme_moves_bytes_per_day(std::uint64_t budget_bytes_per_day) {
  return budget_bytes_per_day / 4;
}

}  // namespace kvtier
