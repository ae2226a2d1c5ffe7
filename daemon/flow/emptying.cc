#include "daemon/flow/emptying.h"

#include <algorithm>

#include "daemon/flow/evict.h"
#include "daemon/flow/rebalance.h"
#include "daemon/flow/stock.h"

namespace kvtier {
namespace {

// Slabs that one attempt tries, blocks that it evicts for one, and what a step may do: some tenths of a millisecond.
constexpr std::uint32_t kSlabsTried = 4;
constexpr std::uint32_t kEvictionsMax = 32768;
constexpr std::uint32_t kStepEvictions = 256;
constexpr std::uint32_t kStepSlots = 4096;
constexpr TimeNs kTryAgainNs = kNsPerSecond / 4;  // leases end without a word to us

enum class Outcome : std::uint8_t { kGone, kMore, kStays };

// Children first, to any depth, without recursion: goes down to a leaf, evicts it, goes on with its parent.
Outcome evict_subtree(StoreState& state, BlockId root, std::uint32_t& budget) {
  BlockId at = root;
  while (budget > 0) {
    const BlockRecord& record = state.blocks[at];
    if (record.first_child != BlockId::kNone) {
      at = record.first_child;
      continue;
    }
    const BlockId parent = record.parent;
    if (evict_begin(state, at) != Code::kOk) return Outcome::kStays;
    evict_finish(state, at);
    ++state.stats.evictions;
    --budget;
    if (at == root) return Outcome::kGone;
    at = parent;
  }
  return Outcome::kMore;
}

// Slots on offer in a stock are taken back for it.
bool can_be_emptied(StoreState& state, Slab& slab) {
  return !slab.is_revoking && !slab.retire && stock_leaves_slab(state, slab);
}

// The next slab to try: that of one of the donor's coldest blocks.
bool choose(StoreState& state, Emptying& job) {
  const SlotClass& donor = state.tenants[index_of(job.tenant)].classes[job.donor];
  const SlabIndex before = job.slab;
  while (job.tried < kSlabsTried) {
    const BlockId coldest = donor.evictor->coldest();
    if (coldest == BlockId::kNone) return false;
    ++job.tried;
    Slab& slab = state.slab_of(state.blocks[coldest].slot);
    if (slab.index() != before && can_be_emptied(state, slab)) {
      slab.is_emptying = true;
      job.slab = slab.index();
      job.next_slot = 0;
      job.evicted = 0;
      return true;
    }
    donor.evictor->defer(coldest);
  }
  return false;
}

void wake_deferred(StoreState& state) {
  for (Deferred& deferred : state.deferred) deferred.is_ready = true;
}

// Something there stays: the same attempt goes on with another slab.
void try_another(StoreState& state, BlockId staying) {
  Emptying& job = *state.emptying;
  Tenant& tenant = state.tenants[index_of(job.tenant)];
  Evictor& evictor = *tenant.classes[job.donor].evictor;
  if (evictor.coldest() == staying) evictor.defer(staying);
  state.memory.slab(job.slab).is_emptying = false;
  if (choose(state, job)) return;
  tenant.shrink_again_ns = state.now() + kTryAgainNs;
  state.emptying.reset();
  wake_deferred(state);
}

void finish(StoreState& state, Slab& slab) {
  Emptying& job = *state.emptying;
  if (!slab.is_empty()) return try_another(state, BlockId::kNone);
  ++state.stats.slabs_emptied;
  if (!job.purpose.is_leaving) {
    job.is_done = true;
    return wake_deferred(state);
  }
  Tenant& tenant = state.tenants[index_of(job.tenant)];
  SlotClass& donor = tenant.classes[job.donor];
  emptying_end(state);
  rebalance_retire(state, tenant, donor, slab);
  wake_deferred(state);
}

}  // namespace

bool emptying_begin(StoreState& state, Tenant& tenant, std::uint32_t donor, const EmptyingPurpose& purpose) {
  if (state.now() < tenant.shrink_again_ns) return false;
  Emptying job{.tenant = tenant.id, .donor = donor, .purpose = purpose};
  if (!choose(state, job)) return false;
  state.emptying = job;
  return true;
}

std::size_t emptying_step(StoreState& state) {
  if (!state.emptying) return 0;
  Emptying& job = *state.emptying;
  Slab& slab = state.memory.slab(job.slab);
  if (job.is_done) {  // since the last turn nobody came for it
    emptying_end(state);
    return 1;
  }
  std::uint32_t budget = std::min(kStepEvictions, kEvictionsMax - job.evicted);
  const std::uint32_t before = budget;
  const std::uint32_t last = std::min(slab.slot_count(), job.next_slot + kStepSlots);
  const std::uint32_t first = job.next_slot;
  while (job.next_slot < last && budget > 0) {
    const BlockId id = slab.block(job.next_slot);
    const bool is_ready = id != BlockId::kNone && state.blocks[id].state == BlockState::kReady;
    const Outcome outcome = is_ready ? evict_subtree(state, id, budget) : Outcome::kGone;
    if (outcome == Outcome::kStays || (id != BlockId::kNone && !is_ready)) {
      try_another(state, id);
      return before - budget + 1;
    }
    if (outcome == Outcome::kMore) break;
    ++job.next_slot;
  }
  job.evicted += before - budget;
  const std::size_t looked = before - budget + (job.next_slot - first) + 1;
  if (job.next_slot == slab.slot_count() || job.evicted >= kEvictionsMax) finish(state, slab);
  return looked;
}

bool emptying_is_done_for(const StoreState& state, const Tenant& tenant, std::uint32_t slot_class,
                          const Slab& slab) {
  return state.emptying && state.emptying->is_done && state.emptying->slab == slab.index() &&
         state.emptying->tenant == tenant.id && state.emptying->purpose.wanted_by == slot_class;
}

void emptying_end(StoreState& state) {
  state.memory.slab(state.emptying->slab).is_emptying = false;
  state.emptying.reset();
}

}  // namespace kvtier
