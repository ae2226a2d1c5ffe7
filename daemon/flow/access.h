#pragma once
// Hits never reach the daemon: it reads them from the clients' access logs, before each eviction pass and now
// and then. Everything in a log is a client's claim: a false one can only make that namespace's own blocks
// look used.

#include "daemon/flow/state.h"

namespace kvtier {

/// Blocks that one drain may touch: about 100 us of work. The rest stays in the rings, which lose their
/// oldest records.
inline constexpr std::uint32_t kAccessTouchesMax = 4096;

/// A block that was used less long ago keeps its place in the eviction order: the daemon need not follow the
/// hottest prefixes many times a second, each time through three cold cache lines. Parents may so come to lie colder than children: evict_gather copes.
inline constexpr std::uint32_t kRecencyGrainMs = 50;

/// Drains the logs of one namespace; returns the blocks touched.
std::size_t access_drain(StoreState& state, Tenant& tenant, std::uint32_t touches_max);

/// The block and up to `count` - 1 of its ancestors were used: last first, so that the head of a prefix is
/// hottest.
std::uint32_t access_touch_run(StoreState& state, BlockId last, std::uint32_t count, bool is_hit);

}  // namespace kvtier
