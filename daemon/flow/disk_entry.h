#pragma once
// Recovery: what the NVMe tier finds of an earlier life, block by block, before the daemon is ready and behind it.

#include "daemon/flow/state.h"

namespace kvtier {

/// A block is on disk: it becomes cold, or its copy joins the block that is in memory.
void disk_on_entry(StoreState& state, const DiskNews& news);

/// A block of before was found right in memory while a cold one has its name: they are one. The cold record takes the
/// slot over and is ready; the other one goes.
void disk_join(StoreState& state, BlockId cold, BlockId warm);

}  // namespace kvtier
