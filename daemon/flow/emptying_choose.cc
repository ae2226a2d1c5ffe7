#include "daemon/flow/emptying_choose.h"

#include "daemon/flow/stock.h"

namespace kvtier {
namespace {

// Slabs that one attempt tries: the coldest ones, then others in turn, so that held ones that are cold do not hide
// those behind them.
constexpr std::uint32_t kSlabsTried = 16;
constexpr std::uint32_t kColdestTried = kSlabsTried / 2;
constexpr std::uint32_t kColdestBlocks = 1024;  // looked at for a slab that was not tried
// Leases end without a word to us. Longer after an attempt that evicted for nothing.
constexpr TimeNs kTryAgainNs = kNsPerSecond / 4;
constexpr TimeNs kTryAgainAfterLossNs = kNsPerSecond;
// Attempts that fail at longer intervals are not one trouble.
constexpr TimeNs kOneTroubleNs = 10 * kNsPerSecond;

// What keeps a slab from being tried at all. Slots on offer in a stock are taken back for it.
Holder keeper_of(StoreState& state, Slab& slab) {
  Session* writer = state.session(slab.writer);
  if (slab.retire) return {Cause::kTierFull, nullptr};
  const bool is_free = !slab.is_revoking && stock_leaves_slab(state, slab);
  return is_free ? Holder{} : Holder{Cause::kWriterBusy, writer};
}

bool try_slab(StoreState& state, Emptying& job, Slab& slab) {
  if (slab.emptying_attempt == job.attempt) return false;
  slab.emptying_attempt = job.attempt;
  ++job.tried;
  if (const Holder keeper = keeper_of(state, slab); keeper.cause != Cause::kNone) {
    emptying_count_kept(job, keeper);
    return false;
  }
  slab.is_emptying = true;
  job.slab = slab.index();
  job.is_looking = true;
  job.look = {};
  job.next_slot = job.evicted = job.unlooked = 0;
  job.saving_until_ns = 0;
  return true;
}

}  // namespace

SlotClass& emptying_donor(StoreState& state, const Emptying& job) {
  return state.tenants[index_of(job.tenant)].classes[job.donor];
}

void emptying_count_kept(Emptying& job, const Holder& holder) {
  if (holder.cause == Cause::kTierFull) return;
  const auto member = holder.cause == Cause::kPinnedBy ? &KeptSlabs::pinned : &KeptSlabs::writing;
  ++(job.kept.*member);
  if (holder.session != nullptr) ++(holder.session->kept_slabs.*member);
  if (holder.closed_pid != 0) job.closed_pid = holder.closed_pid;
}

bool emptying_choose(StoreState& state, Emptying& job) {
  SlotClass& donor = emptying_donor(state, job);
  ColdEnd cold_end(state, *donor.evictor);
  for (std::uint32_t i = 0; i < kColdestBlocks && job.tried < kColdestTried; ++i) {
    const BlockId cold = cold_end.take();
    if (cold == BlockId::kNone) break;
    if (try_slab(state, job, state.slab_of(state.blocks[cold].slot))) return true;
  }
  for (std::size_t i = 0; i < donor.slabs.size() && job.tried < kSlabsTried; ++i) {
    const SlabIndex next = donor.slabs[donor.look_next++ % donor.slabs.size()];
    if (try_slab(state, job, state.memory.slab(next))) return true;
  }
  return false;
}

void emptying_refuse(StoreState& state, const Emptying& job) {
  EmptyingRefusal& refusal = emptying_donor(state, job).refusal;
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
  if (refusal.pid != 0) return;
  refusal.pid = is_pinned ? job.closed_pid : 0;
  refusal.kept = job.kept.*member;
}

}  // namespace kvtier
