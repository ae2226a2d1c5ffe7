#pragma once
// What a test does around the restart of a store, beside starting it anew: clients that live through it.

#include "daemon/flow/store.h"
#include "tests/support/sim_client.h"

namespace kvtier::test {

/// An adoption needs the pidfd of each session: one that does not become readable.
void keep_pidfd(Store& store, const SimClient& client);

/// The client of namespace "main" takes up its session in the store that was started anew. What waits for it is not
/// delivered, and its spaces are not registered yet.
void resume_session(Store& store, SimClient& client);

}  // namespace kvtier::test
