#pragma once
// What one group of puts is made of.

#include "daemon/flow/state.h"

namespace kvtier {

/// Puts the block and those above it that are not on disk, parents first, as far as puts may be open. Returns how many: 0:
/// none may now.
std::uint32_t demote_group(StoreState& state, BlockId leaf);

/// Puts the first of the queue and those behind it that were committed one under the other, and pops them. False: no put
/// may be opened now.
bool demote_run(StoreState& state, SaveQueue& queue);

}  // namespace kvtier
