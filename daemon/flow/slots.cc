#include "daemon/flow/slots.h"

#include <algorithm>

#include "daemon/flow/blame.h"
#include "daemon/flow/demote.h"
#include "daemon/flow/evict.h"
#include "daemon/flow/lending.h"
#include "daemon/flow/rebalance.h"
#include "daemon/flow/slabs.h"
#include "daemon/flow/stock.h"

namespace kvtier {
namespace {

void take_from(StoreState& state, SlotClass& slot_class, Slab& slab, std::uint32_t wanted,
               std::vector<TakenSlot>& out) {
  while (wanted > 0 && slab.free_count() > 0) {
    std::uint32_t slot = 0;
    const Generation generation = slab.take(slot);
    --slot_class.slots_free;
    --state.stats.slots_free;
    if (generation == 0) continue;  // this slot's generations are used up
    out.push_back({SlotRef::of(index_of(slab.index()), slot), generation});
    --wanted;
  }
  if (slab.free_count() == 0) slabs_mark_full(state, slot_class, slab);
}

void take_free(StoreState& state, const SlotRequest& request, SlotOutcome& outcome) {
  SlotClass& slot_class = request.tenant->classes[request.slot_class];
  for (std::size_t i = slot_class.with_free.size(); i-- > 0 && outcome.slots.size() < request.count;) {
    i = std::min(i, slot_class.with_free.size() - 1);
    Slab& slab = state.memory.slab(slot_class.with_free[i]);
    if (!lending_allows(slab, *request.session)) continue;
    lending_lend(state, slab, *request.session);
    const auto wanted = static_cast<std::uint32_t>(request.count - outcome.slots.size());
    take_from(state, slot_class, slab, wanted, outcome.slots);
    if (slot_class.with_free.empty()) break;
  }
}

void take_free_own(StoreState& state, SlotClass& slot_class, std::size_t count, std::vector<TakenSlot>& out) {
  for (std::size_t i = slot_class.with_free.size(); i-- > 0 && out.size() < count;) {
    Slab& slab = state.memory.slab(slot_class.with_free[i]);
    const bool is_known = state.disk->slabs[index_of(slab.index())] == DiskTier::SlabUse::kAdded;
    if (slab.is_emptying || !is_known) continue;
    take_from(state, slot_class, slab, static_cast<std::uint32_t>(count - out.size()), out);
    i = std::min(i, slot_class.with_free.size());
  }
}

void take_new_slabs(StoreState& state, const SlotRequest& request, SlotOutcome& outcome) {
  while (outcome.slots.size() < request.count) {
    if (!slabs_assign_one(state, *request.tenant, request.slot_class, outcome.cause)) return;
    take_free(state, request, outcome);
  }
}

EvictPass evict_pass(StoreState& state, const SlotRequest& request, std::uint32_t scan_max,
                     bool spares_unsaved, SlotOutcome& outcome) {
  const auto missing = static_cast<std::uint32_t>(request.count - outcome.slots.size());
  const EvictPass pass = evict_for(state, {.tenant = request.tenant,
                                           .slot_class = request.slot_class,
                                           .session = request.session,
                                           .count = missing,
                                           .is_all_or_nothing = request.is_all_or_nothing,
                                           .spares_unsaved = spares_unsaved,
                                           .scan_max = scan_max});
  take_free(state, request, outcome);
  return pass;
}

// Clean blocks first. Where there are too few, what is in the way is written to disk now; true: and waited for.
bool evict_clean_and_take(StoreState& state, const SlotRequest& request, std::uint32_t scan_max,
                          SlotOutcome& outcome) {
  const EvictPass pass = evict_pass(state, request, std::min(scan_max, kCleanScanMax), true, outcome);
  if (outcome.slots.size() == request.count || pass.unsaved == 0) return false;
  demote_now(state, state.evict_scratch.unsaved);
  outcome.could_wait = outcome.is_for_saving = request.may_wait_for_saving && demote_works(state);
  outcome.missing = static_cast<std::uint32_t>(request.count - outcome.slots.size());
  return outcome.could_wait;
}

void evict_and_take(StoreState& state, const SlotRequest& request, std::uint32_t scan_max,
                    SlotOutcome& outcome) {
  const bool is_heard = demote_works(state) && !demote_is_silent(state);
  if (is_heard && evict_clean_and_take(state, request, scan_max, outcome)) return;
  // A stock costs nobody an unsaved block while it could be saved.
  if (outcome.slots.size() == request.count || (request.is_for_stock && demote_works(state))) return;
  const EvictPass pass = evict_pass(state, request, scan_max, false, outcome);
  if (outcome.slots.size() == request.count) return;
  if (pass.pinned > 0) {
    outcome.cause = Cause::kPinnedBy;
    outcome.holder_pid = pass.pinned_by_pid;
    outcome.pinned_count = pass.pinned;
  }
}

constexpr std::uint32_t kColdestOnly = 128;

// A session below its share looks only at the coldest blocks for one that it may replace, and asks for
// another slab rather than wear out its own few; one that has its share, or cannot get more, searches on.
void take_evicted(StoreState& state, const SlotRequest& request, SlotOutcome& outcome) {
  if (request.may_wait &&
      !lending_has_fair_share(state, *request.tenant, request.slot_class, *request.session)) {
    evict_and_take(state, request, kColdestOnly, outcome);
    if (outcome.slots.size() == request.count || outcome.could_wait) return;
    outcome.could_wait = lending_revoke_for(state, *request.tenant, request.slot_class, *request.session);
    if (outcome.could_wait) return;
  }
  evict_and_take(state, request, kEvictScanMax, outcome);
  if (outcome.slots.size() == request.count || outcome.could_wait || !request.may_wait) return;
  outcome.could_wait = lending_revoke_for(state, *request.tenant, request.slot_class, *request.session);
}

// Before anybody is refused: what lies unused in stocks.
void take_from_stocks(StoreState& state, const SlotRequest& request, SlotOutcome& outcome) {
  if (stock_take_back(state, *request.tenant) == 0) return;
  take_free(state, request, outcome);
  if (outcome.slots.size() < request.count) take_new_slabs(state, request, outcome);
  if (outcome.slots.size() < request.count) take_evicted(state, request, outcome);
}

}  // namespace

bool slots_is_hopeless(const StoreState& state, const SlotRequest& request) {
  const SlotClass& slot_class = request.tenant->classes[request.slot_class];
  const std::uint64_t limit = request.tenant->bytes_max != 0
                                  ? std::min(request.tenant->bytes_max, state.memory.bytes())
                                  : state.memory.bytes();
  return std::uint64_t{request.count} * slot_class.slot_bytes > limit;
}

SlotOutcome& slots_take(StoreState& state, const SlotRequest& request) {
  SlotOutcome& outcome = state.scratch.taken;
  outcome.clear();
  if (request.is_all_or_nothing && slots_is_hopeless(state, request)) {
    outcome.cause = Cause::kRequestTooLarge;
    return outcome;
  }
  take_free(state, request, outcome);
  if (outcome.slots.size() < request.count) take_new_slabs(state, request, outcome);
  if (request.is_for_stock) {
    if (outcome.slots.size() < request.count) evict_and_take(state, request, kColdestOnly, outcome);
    return outcome;
  }
  if (outcome.slots.size() < request.count) {
    const ClassWish wish{.slots = request.is_all_or_nothing ? request.count : 0,
                         .may_begin = request.may_wait};
    outcome.could_wait = rebalance_classes(state, *request.tenant, request.slot_class, wish);
    if (outcome.could_wait) return outcome;
  }
  if (outcome.slots.size() < request.count && request.may_wait && outcome.cause == Cause::kTierFull) {
    outcome.could_wait = rebalance_tenants(state, *request.tenant);
    if (outcome.could_wait) return outcome;
  }
  if (outcome.slots.size() < request.count) take_evicted(state, request, outcome);
  if (outcome.slots.size() < request.count && !outcome.could_wait) take_from_stocks(state, request, outcome);
  if (outcome.slots.size() < request.count && !outcome.could_wait) blame(state, request, outcome);
  if (request.is_all_or_nothing && outcome.slots.size() < request.count) {
    for (const TakenSlot& taken : outcome.slots) slots_return(state, taken);
    outcome.slots.clear();
  }
  return outcome;
}

void slots_take_own(StoreState& state, Tenant& tenant, std::uint32_t slot_class, std::uint32_t count,
                    std::vector<TakenSlot>& out) {
  SlotClass& of = tenant.classes[slot_class];
  const std::size_t wanted = out.size() + count;
  take_free_own(state, of, wanted, out);
  Cause cause = Cause::kNone;
  while (out.size() < wanted && slabs_assign_one(state, tenant, slot_class, cause))
    take_free_own(state, of, wanted, out);
  if (out.size() == wanted) return;
  const EvictPass pass = evict_for(state, {.tenant = &tenant,
                                           .slot_class = slot_class,
                                           .count = static_cast<std::uint32_t>(wanted - out.size()),
                                           .spares_unsaved = demote_works(state)});
  if (pass.unsaved > 0) demote_now(state, state.evict_scratch.unsaved);
  take_free_own(state, of, wanted, out);
}

void slots_return(StoreState& state, const TakenSlot& taken) {
  Slab& slab = state.slab_of(taken.slot);
  --slab.writing_count;
  slot_release(state, state.tenants[index_of(slab.owner())], taken.slot);
}

void slot_release(StoreState& state, Tenant& tenant, SlotRef slot) {
  Slab& slab = state.slab_of(slot);
  slab.give_back(slot.slot());
  ++state.stats.slots_free;
  for (SlotClass& slot_class : tenant.classes) {
    if (slot_class.slot_bytes != slab.slot_bytes()) continue;
    ++slot_class.slots_free;
    if (slab.free_count() == 1) slabs_mark_free(state, slot_class, slab);
  }
}

}  // namespace kvtier
