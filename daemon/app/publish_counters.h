#pragma once
// The store's and the sessions' numbers into the mapped counters file: what kvctl stat and the metrics read.

#include "daemon/flow/store.h"
#include "daemon/observe/counters.h"
#include "daemon/session/conductor.h"

namespace kvtier {

/// The conductor's thread. A few hundred nanoseconds.
void publish_counters(const Store& store, Conductor& conductor, Counters& counters);

}  // namespace kvtier
