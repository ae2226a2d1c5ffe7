#pragma once
// Hits never reach the daemon: it reads them from the clients' access logs, before each eviction pass and now
// and then. Everything in a log is a client's claim: a false one can only make that namespace's own blocks
// look used.

#include "daemon/flow/state.h"

namespace kvtier {

/// Steps of a turn, of all sessions and namespaces together, a block of a run each, and as many before its eviction
/// passes: some hundred microseconds of work. A run that is longer goes on the next turn, tail first as ever, so that its head ends
/// hottest; records that are not taken yet stay in the rings, which lose their oldest.
inline constexpr std::uint32_t kAccessStepsMax = 1024;

/// A block that was used less long ago keeps its place in the eviction order: the daemon need not follow the
/// hottest prefixes many times a second, each time through three cold cache lines. Parents may so come to lie colder than children: evict_gather copes.
inline constexpr std::uint32_t kRecencyGrainMs = 50;

/// A piece of what all logs tell; returns the steps taken.
std::size_t access_step(StoreState& state);
/// What this namespace's logs tell, as far as this turn's steps for passes go.
void access_before_pass(StoreState& state, Tenant& tenant);

/// The block and up to `count` - 1 of its ancestors were used: last first, so that the head of a prefix is
/// hottest.
std::uint32_t access_touch_run(StoreState& state, BlockId last, std::uint32_t count, bool is_hit);

}  // namespace kvtier
