#pragma once
// The NVMe tier's numbers in the mapped counters file: what kvctl stat and the metrics read.

#include "daemon/observe/counters.h"
#include "daemon/tier/disk_snapshot.h"

namespace kvtier {

/// The agent's thread.
void publish_disk_counters(const DiskSnapshot& view, Counters& counters);

}  // namespace kvtier
