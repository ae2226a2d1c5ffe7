#pragma once
// The block records of an earlier instance: each judged against its slot word, its space and its writer.

#include "daemon/flow/state.h"

namespace kvtier {

/// Ready blocks with a checksum wait for its comparison, hottest first; blocks that somebody may still write
/// or read are quarantined or drained; everything else is free.
Status adopt_blocks(StoreState& state);

}  // namespace kvtier
