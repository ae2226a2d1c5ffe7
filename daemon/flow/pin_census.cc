#include "daemon/flow/pin_census.h"

#include <algorithm>

#include "daemon/flow/pin.h"

namespace kvtier {
namespace {

// A block's record, against counters that lie side by side.
constexpr std::uint64_t kLeasedCost = 32;

void next_session(StoreState& state) {
  PinCensus& census = state.census;
  Session* session = state.session(SessionIndex{census.session}, census.session_id);
  if (session != nullptr) session->leased = census.counting;
  census = {.completed = census.completed, .session = census.session + 1};
}

void count_leased(StoreState& state, const Session& session, const Slab& slab, std::uint32_t slot) {
  Leased& counting = state.census.counting;
  ++counting.blocks;
  counting.bytes += slab.slot_bytes();
  const BlockId id = slab.block(slot);
  const bool is_pinned_too = id != BlockId::kNone && pin_is_of(state, id, session);
  counting.unpinned_bytes += is_pinned_too ? 0 : slab.slot_bytes();
}

// Counts in one slab, which it leaves when it is through. Returns what it cost, in counters looked at.
std::uint64_t count_in_slab(StoreState& state, const Session& session, const Slab& slab,
                            std::uint64_t pins_max) {
  PinCensus& census = state.census;
  std::uint64_t cost = 0;
  for (; census.slot < slab.slot_count() && cost < pins_max; ++census.slot, ++cost) {
    // relaxed: a number for people, ordered with nothing.
    if (session.pin(slab, census.slot, state.pins_stride).load(std::memory_order_relaxed) == 0) continue;
    count_leased(state, session, slab, census.slot);
    cost += kLeasedCost;
  }
  if (census.slot >= slab.slot_count()) {
    ++census.slab;
    census.slot = 0;
  }
  return std::max<std::uint64_t>(cost, 1);
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
  if (slab.owner() == session->tenant) return count_in_slab(state, *session, slab, pins_max);
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
