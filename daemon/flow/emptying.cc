#include "daemon/flow/emptying.h"

#include <algorithm>

#include "daemon/flow/emptying_look.h"
#include "daemon/flow/evict.h"
#include "daemon/flow/rebalance.h"
#include "daemon/flow/stock.h"

namespace kvtier {
namespace {

// Slabs that one attempt tries: the coldest ones, then others in turn, so that held ones that are cold do not hide
// those behind them.
constexpr std::uint32_t kSlabsTried = 16;
constexpr std::uint32_t kColdestTried = kSlabsTried / 2;
constexpr std::uint32_t kColdestBlocks = 1024;  // looked at for a slab that was not tried
// What a step may evict, some tenths of a millisecond, and evictions after which holders are looked for again.
constexpr std::uint32_t kStepEvictions = 256;
constexpr std::uint32_t kStepSlots = 4096;
constexpr std::uint32_t kEvictionsUnlooked = 1024;
// Leases end without a word to us. Longer after an attempt that evicted for nothing.
constexpr TimeNs kTryAgainNs = kNsPerSecond / 4;
constexpr TimeNs kTryAgainAfterLossNs = kNsPerSecond;
// Attempts that fail at longer intervals are not one trouble.
constexpr TimeNs kOneTroubleNs = 10 * kNsPerSecond;

// Children first, to any depth, without recursion: goes down to a leaf, evicts it, goes on with its parent. Returns
// the block that stays, if one does.
BlockId evict_subtree(StoreState& state, BlockId root, std::uint32_t& budget) {
  BlockId at = root;
  while (budget > 0) {
    const BlockRecord& record = state.blocks[at];
    if (record.first_child != BlockId::kNone) {
      at = record.first_child;
      continue;
    }
    const BlockId parent = record.parent;
    if (evict_begin(state, at) != Code::kOk) return at;
    evict_finish(state, at);
    ++state.stats.evictions;
    --budget;
    if (at == root) return BlockId::kNone;
    at = parent;
  }
  return BlockId::kNone;
}

// What keeps a slab from being tried at all. Slots on offer in a stock are taken back for it.
Holder keeper_of(StoreState& state, Slab& slab) {
  Session* writer = state.session(slab.writer);
  if (slab.retire) return {Cause::kTierFull, nullptr};
  const bool is_free = !slab.is_revoking && stock_leaves_slab(state, slab);
  return is_free ? Holder{} : Holder{Cause::kWriterBusy, writer};
}

void count_kept(Emptying& job, const Holder& holder) {
  if (holder.cause == Cause::kTierFull) return;
  const auto member = holder.cause == Cause::kPinnedBy ? &KeptSlabs::pinned : &KeptSlabs::writing;
  ++(job.kept.*member);
  if (holder.session != nullptr) ++(holder.session->kept_slabs.*member);
}

bool try_slab(StoreState& state, Emptying& job, Slab& slab) {
  if (slab.emptying_attempt == job.attempt) return false;
  slab.emptying_attempt = job.attempt;
  ++job.tried;
  if (const Holder keeper = keeper_of(state, slab); keeper.cause != Cause::kNone) {
    count_kept(job, keeper);
    return false;
  }
  slab.is_emptying = true;
  job.slab = slab.index();
  job.is_looking = true;
  job.look = {};
  job.next_slot = job.evicted = job.unlooked = 0;
  return true;
}

SlotClass& donor_of(StoreState& state, const Emptying& job) {
  return state.tenants[index_of(job.tenant)].classes[job.donor];
}

// The next slab to try: that of one of the donor's coldest blocks, else any.
bool choose(StoreState& state, Emptying& job) {
  SlotClass& donor = donor_of(state, job);
  BlockId cold = donor.evictor->coldest();
  for (std::uint32_t i = 0; i < kColdestBlocks && cold != BlockId::kNone && job.tried < kColdestTried; ++i) {
    if (try_slab(state, job, state.slab_of(state.blocks[cold].slot))) return true;
    cold = donor.evictor->after(cold);
  }
  for (std::size_t i = 0; i < donor.slabs.size() && job.tried < kSlabsTried; ++i) {
    const SlabIndex next = donor.slabs[donor.look_next++ % donor.slabs.size()];
    if (try_slab(state, job, state.memory.slab(next))) return true;
  }
  return false;
}

void wake_deferred(StoreState& state) {
  for (Deferred& deferred : state.deferred) deferred.is_ready = true;
}

// What the attempt came to, for the reservation that is refused and for an administrator.
void refuse(StoreState& state, const Emptying& job) {
  EmptyingRefusal& refusal = donor_of(state, job).refusal;
  const TimeNs now = state.now();
  const bool is_pinned = job.kept.pinned >= job.kept.writing;
  const auto member = is_pinned ? &KeptSlabs::pinned : &KeptSlabs::writing;
  const TimeNs since =
      refusal.cause != Cause::kNone && now < refusal.at_ns + kOneTroubleNs ? refusal.since_ns : now;
  refusal = {.tried = job.tried, .since_ns = since, .at_ns = now};
  refusal.again_ns = now + (job.evicted > 0 ? kTryAgainAfterLossNs : kTryAgainNs);
  if (job.kept.*member == 0) return;
  refusal.cause = is_pinned ? Cause::kPinnedBy : Cause::kWriterBusy;
  for (const SessionIndex index : state.tenants[index_of(job.tenant)].sessions) {
    const Session& session = *state.session(index);
    if (session.kept_slabs.*member <= (refusal.pid == 0 ? 0 : refusal.kept)) continue;
    refusal.pid = session.request.pid;
    refusal.kept = session.kept_slabs.*member;
  }
  if (refusal.pid == 0) refusal.kept = job.kept.*member;
}

// Something there stays: the same attempt goes on with another slab, if nothing was evicted for this one.
void give_up_slab(StoreState& state, const Holder& holder) {
  Emptying& job = *state.emptying;
  count_kept(job, holder);
  state.memory.slab(job.slab).is_emptying = false;
  if (job.evicted == 0 && choose(state, job)) return;
  refuse(state, job);
  state.emptying.reset();
  wake_deferred(state);
}

void finish(StoreState& state, Slab& slab) {
  Emptying& job = *state.emptying;
  if (!slab.is_empty()) return give_up_slab(state, {Cause::kTierFull, nullptr});
  ++state.stats.slabs_emptied;
  donor_of(state, job).refusal = {};
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

std::size_t look(StoreState& state) {
  Emptying& job = *state.emptying;
  const EmptyingLooked looked = emptying_look(state, job);
  if (looked.holder.cause != Cause::kNone) {
    give_up_slab(state, looked.holder);
  } else if (looked.is_over) {
    job.is_looking = false;
    job.unlooked = 0;
  }
  return looked.looked + 1;
}

// Evicts in the slots from next_slot on, as far as the budget goes. Returns the block that stays, if one does.
BlockId evict_slots(StoreState& state, Emptying& job, const Slab& slab, std::uint32_t& budget) {
  const std::uint32_t last = std::min(slab.slot_count(), job.next_slot + kStepSlots);
  while (job.next_slot < last && budget > 0) {
    const BlockId id = slab.block(job.next_slot);
    if (id != BlockId::kNone && state.blocks[id].state != BlockState::kReady) return id;
    const BlockId stays = id != BlockId::kNone ? evict_subtree(state, id, budget) : BlockId::kNone;
    if (stays != BlockId::kNone) return stays;
    if (slab.block(job.next_slot) == BlockId::kNone) ++job.next_slot;
  }
  return BlockId::kNone;
}

std::size_t evict_some(StoreState& state) {
  Emptying& job = *state.emptying;
  Slab& slab = state.memory.slab(job.slab);
  std::uint32_t budget = kStepEvictions;
  const std::uint32_t first = job.next_slot;
  const BlockId stays = evict_slots(state, job, slab, budget);
  const std::uint32_t evicted = kStepEvictions - budget;
  const std::size_t looked = evicted + (job.next_slot - first) + 1;
  job.evicted += evicted;
  job.unlooked += evicted;
  if (stays != BlockId::kNone) {
    give_up_slab(state, holder_of(state, stays));
  } else if (job.next_slot == slab.slot_count() || job.evicted >= slab.slot_count() + kEmptyingOutsideMax) {
    finish(state, slab);
  } else if (job.unlooked >= kEvictionsUnlooked) {
    job.is_looking = true;
    job.look = {.slot = job.next_slot};
  }
  return looked;
}

}  // namespace

bool emptying_begin(StoreState& state, Tenant& tenant, std::uint32_t donor, const EmptyingPurpose& purpose) {
  if (state.now() < tenant.classes[donor].refusal.again_ns) return false;
  for (const SessionIndex index : tenant.sessions) state.session(index)->kept_slabs = {};
  Emptying job{.tenant = tenant.id, .donor = donor, .purpose = purpose, .attempt = ++state.emptying_attempts};
  if (!choose(state, job)) {
    refuse(state, job);
    return false;
  }
  state.emptying = job;
  return true;
}

std::size_t emptying_step(StoreState& state) {
  if (!state.emptying) return 0;
  if (state.emptying->is_done) {  // since the last turn nobody came for it
    emptying_end(state);
    return 1;
  }
  return state.emptying->is_looking ? look(state) : evict_some(state);
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
