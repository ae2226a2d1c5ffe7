#pragma once
// How much each client leases: all pin tables, counted a bounded piece at a time when an administrator asks. All
// of them at once would hold the conductor up: clients times slots.
//
// Rounds follow one another; whoever asks waits for one that began after it asked, and two who ask drive the same
// round. Thread: the conductor.

#include <cstdint>

#include "daemon/flow/state.h"

namespace kvtier {

/// Counters that one step looks at: about 50 us of work.
inline constexpr std::uint64_t kPinCensusStep = std::uint64_t{1} << 17;

/// The first round that begins from now on.
std::uint64_t census_next_round(const StoreState& state);
/// Looks at `pins_max` counters at most. True: round `round` is complete, Session::leased holds it.
bool census_advance(StoreState& state, std::uint64_t round, std::uint64_t pins_max);

}  // namespace kvtier
