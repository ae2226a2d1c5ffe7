#pragma once
// Room that a store leaves free on its file system where no setting says how much. Pure.

#include <algorithm>
#include <cstdint>

#include "libkvclient/base/units.h"

namespace kvtier {

/// Of a file system of so many bytes: the larger of 1 GiB and 5 %, but a quarter at most, as a small one would have no room
/// for a store at all.
constexpr std::uint64_t headroom_default(std::uint64_t file_system_bytes) {
  return std::min(std::max(kGiB, file_system_bytes / 20), file_system_bytes / 4);
}

}  // namespace kvtier
