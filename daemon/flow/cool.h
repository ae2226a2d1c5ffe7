#pragma once
// Blocks that are on disk only: how they come to be so, and how they leave. A cold block has no slot; its place in
// directory, index and tree stays, so that it is found, restored and invalidated as any other. Per namespace they leave
// least recently used first, children before parents.

#include "daemon/flow/state.h"

namespace kvtier {

/// An evicting block with a copy gives its slot up.
void block_cool(StoreState& state, BlockId id);

/// In the list of cold ones, as the one that was used last.
void cold_list(StoreState& state, BlockId id);
/// In the list of cold ones, as the one that goes first.
void cold_list_coldest(StoreState& state, BlockId id);
void cold_unlist(StoreState& state, BlockId id);

/// A cold block leaves, and its copy is forgotten: a miss from here on.
void cold_drop(StoreState& state, BlockId id);
/// The coldest one of the namespace, or of all. False: there is none.
bool cold_drop_coldest(StoreState& state, Tenant* tenant);

/// The block's copy is gone, whoever said so: a cold block leaves, any other has none from here on.
void copy_lost(StoreState& state, BlockId id);

}  // namespace kvtier
