#pragma once
// Invariants of a store at rest: what every test of it may ask at any time.

#include "daemon/flow/store.h"

namespace kvtier::test {

/// Block table, index, directory, slot tables, evictors and counters agree with each other; reports with
/// EXPECT.
void check_store(Store& store);

}  // namespace kvtier::test
