#pragma once
// The unit in which host memory moves, where host.slab_bytes does not say.

#include <algorithm>
#include <bit>
#include <cstdint>

#include "libkvclient/base/units.h"

namespace kvtier {

/// About 1/128 of the tier, a power of two between 16 MiB and 1 GiB, and never more than the tier.
inline std::uint64_t default_slab_bytes(std::uint64_t tier_bytes) {
  const std::uint64_t wanted = std::bit_ceil(std::max<std::uint64_t>(tier_bytes / 128, 1));
  return std::min(std::clamp<std::uint64_t>(wanted, 16 * kMiB, kGiB), round_up(tier_bytes, kPageBytes));
}

}  // namespace kvtier
