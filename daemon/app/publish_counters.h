#pragma once
// The store's and the sessions' numbers into the mapped counters file: what kvctl stat and the metrics read.

#include "daemon/agent/agent_loop.h"
#include "daemon/flow/store.h"
#include "daemon/observe/counters.h"
#include "daemon/session/conductor.h"

namespace kvtier {

/// The conductor's thread. A few hundred nanoseconds.
void publish_counters(const Store& store, Conductor& conductor, Counters& counters);

/// The same of the conductor's thread itself. Its rounds until now.
void publish_load(const AgentLoad& load, TimeNs now_ns, Counters& counters);

}  // namespace kvtier
