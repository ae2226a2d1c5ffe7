#include "daemon/flow/pin_census.h"

#include <algorithm>

namespace kvtier {
namespace {

void next_session(StoreState& state) {
  PinCensus& census = state.census;
  Session* session = state.session(SessionIndex{census.session}, census.session_id);
  if (session != nullptr) session->leased = census.counting;
  census = {.completed = census.completed, .session = census.session + 1};
}

// Counts in one slab, which it leaves when it is through. Returns the counters that it looked at.
std::uint64_t count_in_slab(PinCensus& census, const Session& session, const Slab& slab,
                            std::uint64_t pins_stride, std::uint64_t pins_max) {
  const std::uint64_t first = census.slot;
  const std::uint64_t last = std::min<std::uint64_t>(slab.slot_count(), first + pins_max);
  for (std::uint64_t slot = first; slot < last; ++slot) {
    // relaxed: a number for people, ordered with nothing.
    const PinCell& pin = session.pin(slab, static_cast<std::uint32_t>(slot), pins_stride);
    if (pin.load(std::memory_order_relaxed) == 0) continue;
    ++census.counting.blocks;
    census.counting.bytes += slab.slot_bytes();
  }
  census.slot = static_cast<std::uint32_t>(last);
  if (last >= slab.slot_count()) {
    ++census.slab;
    census.slot = 0;
  }
  return last > first ? last - first : 1;
}

// Returns the counters that it looked at, at least one.
std::uint64_t count_piece(StoreState& state, std::uint64_t pins_max) {
  PinCensus& census = state.census;
  const Session* session = state.session(SessionIndex{census.session});
  const bool is_same = session != nullptr && (census.session_id == 0 || session->id == census.session_id);
  if (!is_same || census.slab == state.memory.slab_count()) {
    next_session(state);
    return 1;
  }
  census.session_id = session->id;
  const Slab& slab = state.memory.slab(SlabIndex{census.slab});
  if (slab.owner() == session->tenant)
    return count_in_slab(census, *session, slab, state.pins_stride, pins_max);
  ++census.slab;
  census.slot = 0;
  return 1;
}

}  // namespace

std::uint64_t census_next_round(const StoreState& state) {
  const PinCensus& census = state.census;
  const bool is_begun = census.session > 0 || census.slab > 0 || census.slot > 0;
  return census.completed + (is_begun ? 2 : 1);
}

bool census_advance(StoreState& state, std::uint64_t round, std::uint64_t pins_max) {
  PinCensus& census = state.census;
  while (census.completed < round && pins_max > 0) {
    if (census.session < state.sessions.size()) {
      pins_max -= std::min(pins_max, count_piece(state, pins_max));
    } else {
      census = {.completed = census.completed + 1};
    }
  }
  return census.completed >= round;
}

}  // namespace kvtier
