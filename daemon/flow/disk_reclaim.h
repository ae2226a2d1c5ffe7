#pragma once
// Reclaim of the NVMe tier asks what is worth keeping, and tells where copies went.

#include "daemon/flow/state.h"

namespace kvtier {

void disk_on_question(StoreState& state, const DiskNews& news);
void disk_on_moved(StoreState& state, const DiskNews& news);
void disk_on_dropped(StoreState& state, const DiskNews& news);

}  // namespace kvtier
