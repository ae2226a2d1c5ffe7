#pragma once
// Taking blocks out of sight and giving their slots back: what every way of losing a block ends in.

#include "daemon/flow/state.h"

namespace kvtier {

/// Out of directory, index, tree and evictor: from here on it is a miss. The slot and the record stay.
void block_unpublish(StoreState& state, BlockId id);
/// An unpublished block that nobody can touch: its slot is free, its record too.
void block_free(StoreState& state, BlockId id);

/// A ready block must go although somebody may lease it (invalidation, flush by force): unpublished at once,
/// freed when its last lease ends.
void block_drop(StoreState& state, BlockId id);
/// A block that is being written must not appear: unpublished at once. Its slot is quarantined until its
/// writer gives it up (commit or abort) or exits.
void block_disown(StoreState& state, BlockId id);

/// Looks again at leases of dropped blocks: a bounded step. Returns the slots freed.
std::size_t draining_step(StoreState& state);

}  // namespace kvtier
