#pragma once
// What a group of puts will write, before it is handed to the store: what a budget is asked for. Pure.

#include <cstdint>
#include <span>

#include "daemon/disk/disk_types.h"

namespace kvtier {

/// Bytes of one group, if nothing else joins it: its header area and its payloads in whole units of `alignment`, and its
/// entries in the segment's index. Not the little that a segment costs by itself, nor what is written a second time.
std::uint64_t put_cost_bytes(std::span<const DiskPut> puts, std::uint32_t alignment);

}  // namespace kvtier
