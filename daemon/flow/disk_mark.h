#pragma once
// What is invalidated must not come back after a restart: the NVMe tier is told, and the invalidation is answered when it
// has noted that for good. What was put before is void there; what is put behind it is not.

#include "daemon/flow/state.h"

namespace kvtier {

/// Whether the walk of an invalidation is to wait: the tier is being opened, and what it finds must be gone first.
[[nodiscard]] bool disk_delays_invalidations(const StoreState& state);

/// The walk is over, or `key`, a block of the job's space, is about to go (zero: all of it). Takes the job over, to be answered when the tier has it; false: there is nobody to tell, or (`code`)
/// nobody who would keep it.
bool disk_mark(StoreState& state, const Invalidation& job, const Key& key, Code& code);
void disk_on_marked(StoreState& state, const DiskNews& news);
/// The tier is over: who waits for it is answered.
void disk_give_up(StoreState& state);

}  // namespace kvtier
