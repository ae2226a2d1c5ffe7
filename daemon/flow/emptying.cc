#include "daemon/flow/emptying.h"

#include "daemon/flow/emptying_choose.h"
#include "daemon/flow/emptying_evict.h"
#include "daemon/flow/emptying_look.h"
#include "daemon/flow/rebalance.h"

namespace kvtier {
namespace {

// Evictions after which holders are looked for again.
constexpr std::uint32_t kEvictionsUnlooked = 1024;

void wake_deferred(StoreState& state) {
  for (Deferred& deferred : state.deferred) deferred.is_ready = true;
}

// Something there stays: the same attempt goes on with another slab, if nothing was evicted for this one.
void give_up_slab(StoreState& state, const Holder& holder) {
  Emptying& job = *state.emptying;
  emptying_count_kept(job, holder);
  state.memory.slab(job.slab).is_emptying = false;
  if (job.evicted == 0 && emptying_choose(state, job)) return;
  emptying_refuse(state, job);
  state.emptying.reset();
  wake_deferred(state);
}

void finish(StoreState& state, Slab& slab) {
  Emptying& job = *state.emptying;
  if (!slab.is_empty()) return give_up_slab(state, {Cause::kTierFull, nullptr});
  ++state.stats.slabs_emptied;
  emptying_donor(state, job).refusal = {};
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

std::size_t evict_some(StoreState& state) {
  Emptying& job = *state.emptying;
  Slab& slab = state.memory.slab(job.slab);
  const EmptyingEvicted step = emptying_evict(state, job);
  job.evicted += step.evicted;
  job.unlooked += step.evicted;
  if (step.stays != BlockId::kNone) {
    give_up_slab(state, holder_of(state, step.stays));
  } else if (job.next_slot == slab.slot_count() || job.evicted >= slab.slot_count() + kEmptyingOutsideMax) {
    finish(state, slab);
  } else if (job.unlooked >= kEvictionsUnlooked) {
    job.is_looking = true;
    job.look = {.slot = job.next_slot};
  }
  return step.looked;
}

}  // namespace

bool emptying_begin(StoreState& state, Tenant& tenant, std::uint32_t donor, const EmptyingPurpose& purpose) {
  if (state.now() < tenant.classes[donor].refusal.again_ns) return false;
  for (const SessionIndex index : tenant.sessions) state.session(index)->kept_slabs = {};
  Emptying job{.tenant = tenant.id, .donor = donor, .purpose = purpose, .attempt = ++state.emptying_attempts};
  if (!emptying_choose(state, job)) {
    emptying_refuse(state, job);
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

TimeNs emptying_next_ns(const StoreState& state) {
  if (!state.emptying) return kNever;
  const Emptying& job = *state.emptying;
  return job.saving_until_ns > state.now() ? job.saving_until_ns : 0;
}

}  // namespace kvtier
