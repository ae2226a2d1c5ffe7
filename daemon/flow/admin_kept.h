#pragma once
// Why a block stays when an administrator evicts.

#include "daemon/flow/admin.h"
#include "daemon/flow/state.h"

namespace kvtier {

/// Counts a block that was not evicted under its reason. One that is not to be found any more counts nowhere: its
/// slot waits for a client.
void admin_count_kept(StoreState& state, BlockId id, KeptCounts& kept);

}  // namespace kvtier
