#include "daemon/flow/rebalance.h"

#include <algorithm>

#include "daemon/flow/disk_open.h"
#include "daemon/flow/emptying.h"
#include "daemon/flow/slabs.h"
#include "daemon/flow/stock.h"
#include "daemon/flow/unanswered.h"

namespace kvtier {
namespace {

// A class that has slabs gets another one's only if that one's coldest block is older by this factor and
// more.
constexpr std::uint32_t kAgeFactor = 2;
constexpr std::uint32_t kAgeMarginMs = 1000;
constexpr int kColdestLook = 16;
constexpr TimeNs kRefusalHoldsNs = kNsPerSecond;
// Slabs that clients were asked to unmap in vain, each of another namespace, before no other namespace is asked.
constexpr std::uint32_t kSlabsLateMax = 4;

// The age of the oldest at its cold end: the order is not one of age alone.
std::uint32_t coldest_age_ms(StoreState& state, const SlotClass& slot_class) {
  const auto now_ms = static_cast<std::uint32_t>(state.now() / kNsPerMs);
  std::uint32_t age = 0;
  ColdEnd cold_end(state, *slot_class.evictor);
  for (int i = 0; i < kColdestLook; ++i) {
    const BlockId cold = cold_end.take();
    if (cold == BlockId::kNone) break;
    age = std::max(age, now_ms - state.blocks[cold].access_ms);
  }
  return age;
}

Slab* unused_slab(StoreState& state, const SlotClass& slot_class) {
  for (const SlabIndex index : slot_class.with_free) {
    Slab& slab = state.memory.slab(index);
    const bool is_unused = slab.holds_only_stock() && !slab.is_revoking && !slab.is_emptying;
    if (is_unused && stock_leaves_slab(state, slab)) return &slab;
  }
  return nullptr;
}

// But for classes of which no slab could be emptied just now.
SlotClass* coldest_class(StoreState& state, Tenant& tenant, const SlotClass* except) {
  SlotClass* best = nullptr;
  std::uint32_t best_age = 0;
  for (SlotClass& each : tenant.classes) {
    if (&each == except || each.evictor->size() == 0 || state.now() < each.refusal.again_ns) continue;
    const std::uint32_t age = coldest_age_ms(state, each);
    if (best != nullptr && age <= best_age) continue;
    best = &each;
    best_age = age;
  }
  return best;
}

// An equal part of the memory between the namespaces that have some and the one that wants some.
std::uint64_t share_bytes(const StoreState& state, const Tenant& tenant, const Tenant& wanting) {
  std::uint64_t users = 0;
  for (const Tenant& each : state.tenants) users += each.slab_bytes > 0 || &each == &wanting ? 1 : 0;
  const std::uint64_t equal = state.memory.bytes() / std::max<std::uint64_t>(users, 1);
  return tenant.bytes_max == 0 ? equal : std::min(equal, tenant.bytes_max);
}

// Somebody was asked to unmap it and has not, for longer than a healthy client takes: perhaps a stopped process.
bool is_late(const StoreState& state, const Slab& slab) {
  return slab.retire != nullptr && !slab.retire->mapped_by.empty() &&
         state.now() >= slab.asked_ns + kAnswerPatienceNs;
}

bool is_late(StoreState& state, const Tenant& tenant) {
  for (std::uint32_t i = 0; i < state.memory.slab_count(); ++i) {
    const Slab& slab = state.memory.slab(SlabIndex{i});
    if (slab.owner() == tenant.id && is_late(state, slab)) return true;
  }
  return false;
}

// What a namespace has above its share; nothing while it is late with a slab.
std::uint64_t surplus_bytes(StoreState& state, const Tenant& tenant, const Tenant& wanting) {
  const std::uint64_t share = share_bytes(state, tenant, wanting);
  if (&tenant == &wanting || tenant.slab_bytes <= share || is_late(state, tenant)) return 0;
  return tenant.slab_bytes - share;
}

// But for those that were asked before and are late.
Tenant* richest_tenant(StoreState& state, const Tenant& wanting) {
  Tenant* best = nullptr;
  std::uint64_t best_surplus = 0;
  for (Tenant& each : state.tenants) {
    const std::uint64_t surplus = surplus_bytes(state, each, wanting);
    if (surplus <= best_surplus) continue;
    best = &each;
    best_surplus = surplus;
  }
  return best;
}

void finish_retirement(StoreState& state, Slab& slab) {
  if (!disk_lets_go(state, slab)) return;
  // While it serves nobody waits for huge pages to be gathered.
  const SlabPages pages =
      state.options.pages == SlabPages::kGathered ? SlabPages::kOrdinary : state.options.pages;
  if (!state.memory.replace(slab, pages, *state.fds).is_ok()) return;  // tried again later
  disk_slab_made(state, slab);
  state.restart.slabs()[index_of(slab.index())] = {};
  --state.stats.slabs_assigned;
  ++state.stats.slab_retirements;
  for (Deferred& deferred : state.deferred) deferred.is_ready = true;
}

void ask_to_unmap(StoreState& state, const Slab& slab, SessionIndex session) {
  state.outbox->push_back({.kind = OutEvent::Kind::kSlabRemove,
                           .session = session,
                           .slab = slab.index(),
                           .epoch = slab.retire->epoch});
}

void no_longer_mapped(StoreState& state, Slab& slab, SessionIndex session) {
  if (slab.retire == nullptr || std::erase(slab.retire->mapped_by, session) == 0) return;
  if (slab.retire->mapped_by.empty()) finish_retirement(state, slab);
}

std::uint32_t place_of(const Tenant& tenant, const SlotClass& slot_class) {
  return static_cast<std::uint32_t>(&slot_class - tenant.classes.data());
}

// A slab with free slots whose writer can be asked for it: one that was cut anew keeps its writer.
bool has_room_with_others(StoreState& state, const SlotClass& wanting) {
  return std::ranges::any_of(wanting.with_free, [&](SlabIndex index) {
    const Session* writer = state.session(state.memory.slab(index).writer);
    return writer != nullptr && writer->life == Session::Life::kAttached;
  });
}

bool is_emptied_for(const StoreState& state, const Tenant& tenant, std::uint32_t slot_class) {
  return state.emptying && state.emptying->tenant == tenant.id && !state.emptying->purpose.is_leaving &&
         state.emptying->purpose.wanted_by == slot_class;
}

// One slab at a time; those that are late are none, as long as they are few.
bool is_one_on_its_way(StoreState& state) {
  std::uint32_t late = 0;
  for (std::uint32_t i = 0; i < state.memory.slab_count(); ++i) {
    const Slab& slab = state.memory.slab(SlabIndex{i});
    if (slab.retire == nullptr) continue;
    if (!is_late(state, slab) || ++late == kSlabsLateMax) return true;
  }
  return false;
}

// The latest that still says how things are. Leases end without a word to us.
const EmptyingRefusal* last_refusal(StoreState& state, const Tenant& tenant, const SlotClass* except) {
  const EmptyingRefusal* last = nullptr;
  for (const SlotClass& each : tenant.classes) {
    const EmptyingRefusal& refusal = each.refusal;
    if (&each == except || refusal.cause == Cause::kNone || state.now() >= refusal.at_ns + kRefusalHoldsNs)
      continue;
    if (last == nullptr || refusal.at_ns > last->at_ns) last = &refusal;
  }
  return last;
}

}  // namespace

void rebalance_retire(StoreState& state, Tenant& tenant, SlotClass& donor, Slab& slab) {
  slabs_leave_class(state, donor, slab);
  std::erase(tenant.slabs, slab.index());
  tenant.slab_bytes -= slab.bytes();
  slab.retire = std::make_unique<SlabRetirement>();
  slab.retire->epoch = ++slab.revoke_epoch;
  slab.asked_ns = state.now();
  if (Session* writer = state.session(slab.writer); writer != nullptr) --writer->slabs_lent;
  slab.writer = SessionIndex::kNone;
  for (const SessionIndex index : tenant.sessions) {
    slab.retire->mapped_by.push_back(index);
    if (state.session(index)->life == Session::Life::kAttached) ask_to_unmap(state, slab, index);
  }
  if (slab.retire->mapped_by.empty()) finish_retirement(state, slab);
}

namespace {

// A slab without blocks leaves at once.
bool give_unused(StoreState& state, Tenant& tenant) {
  for (SlotClass& slot_class : tenant.classes) {
    Slab* unused = unused_slab(state, slot_class);
    if (unused == nullptr) continue;
    rebalance_retire(state, tenant, slot_class, *unused);
    return true;
  }
  return false;
}

}  // namespace

bool rebalance_classes(StoreState& state, Tenant& tenant, std::uint32_t slot_class, const ClassWish& wish) {
  if (is_emptied_for(state, tenant, slot_class)) return true;
  SlotClass& wanting = tenant.classes[slot_class];
  const bool is_too_small = wish.slots > wanting.slots;
  if (!is_too_small && has_room_with_others(state, wanting)) return false;
  SlotClass* donor = wish.may_begin ? coldest_class(state, tenant, &wanting) : nullptr;
  if (donor == nullptr) return false;
  const std::uint32_t own_age = coldest_age_ms(state, wanting);
  if (!wanting.slabs.empty() && !is_too_small &&
      coldest_age_ms(state, *donor) <= kAgeFactor * own_age + kAgeMarginMs)
    return false;
  return state.emptying || emptying_begin(state, tenant, place_of(tenant, *donor), {.wanted_by = slot_class});
}

bool rebalance_is_due(StoreState& state, const Tenant& tenant) {
  return tenant.slab_bytes == 0 ||
         tenant.slab_bytes + state.memory.slab_bytes() <= share_bytes(state, tenant, tenant);
}

bool rebalance_shrink(StoreState& state, Tenant& tenant) {
  if (give_unused(state, tenant) || state.emptying) return true;
  const SlotClass* donor = coldest_class(state, tenant, nullptr);
  if (donor != nullptr && emptying_begin(state, tenant, place_of(tenant, *donor), {.is_leaving = true}))
    return true;
  return stock_take_back(state, tenant) > 0 && give_unused(state, tenant);
}

bool rebalance_tenants(StoreState& state, Tenant& tenant) {
  if (!rebalance_is_due(state, tenant)) return false;
  if (state.emptying || is_one_on_its_way(state)) return true;
  Tenant* rich = richest_tenant(state, tenant);
  return rich != nullptr && rebalance_shrink(state, *rich);
}

const EmptyingRefusal* rebalance_refusal(StoreState& state, Tenant& tenant, std::uint32_t slot_class,
                                         Cause cause) {
  const EmptyingRefusal* last = last_refusal(state, tenant, &tenant.classes[slot_class]);
  if (last != nullptr || cause != Cause::kTierFull || !rebalance_is_due(state, tenant)) return last;
  const Tenant* rich = richest_tenant(state, tenant);
  return rich != nullptr ? last_refusal(state, *rich, nullptr) : nullptr;
}

void rebalance_forgive(Tenant& tenant, std::uint32_t pid) {
  for (SlotClass& each : tenant.classes) {
    if (each.refusal.pid == pid) each.refusal = {};
  }
}

void rebalance_resumed(StoreState& state, const Session& session) {
  for (std::uint32_t i = 0; i < state.memory.slab_count(); ++i) {
    const Slab& slab = state.memory.slab(SlabIndex{i});
    if (slab.retire == nullptr) continue;
    const std::vector<SessionIndex>& mapped_by = slab.retire->mapped_by;
    if (std::ranges::find(mapped_by, session.index) != mapped_by.end())
      ask_to_unmap(state, slab, session.index);
  }
}

void rebalance_let_go(StoreState& state, Slab& slab) {
  if (slab.retire != nullptr && slab.retire->mapped_by.empty()) finish_retirement(state, slab);
}

void rebalance_unmapped(StoreState& state, const Session& session, const SlabAck& ack) {
  if (ack.slab >= state.memory.slab_count() || ack.state != SlabState::kUnmapped) return;
  Slab& slab = state.memory.slab(SlabIndex{ack.slab});
  if (slab.retire != nullptr && ack.epoch == slab.retire->epoch) no_longer_mapped(state, slab, session.index);
}

void rebalance_session_gone(StoreState& state, const Session& session) {
  for (std::uint32_t i = 0; i < state.memory.slab_count(); ++i) {
    no_longer_mapped(state, state.memory.slab(SlabIndex{i}), session.index);
  }
}

}  // namespace kvtier
