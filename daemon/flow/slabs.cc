#include "daemon/flow/slabs.h"

#include <algorithm>

#include "daemon/flow/directory_growth.h"
#include "daemon/flow/emptying.h"
#include "daemon/flow/records.h"
#include "daemon/flow/stock.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

void announce(StoreState& state, const Tenant& tenant, const Slab& slab) {
  for (const SessionIndex index : tenant.sessions) {
    Session* session = state.session(index);
    if (session->life != Session::Life::kAttached) continue;
    state.outbox->push_back({.kind = OutEvent::Kind::kSlabAdd, .session = index, .slab = slab.index()});
  }
}

struct Donation {
  Slab* slab = nullptr;
  SlotClass* donor = nullptr;  ///< the class that the slab is in now; null: it is in none
};

// Memory that the new slots need beside the slab itself, less what the slab's present slots have.
Status reserve_metadata(StoreState& state, Tenant& tenant, const Donation& donation, std::uint64_t slots) {
  const std::uint64_t given_up = donation.donor != nullptr ? donation.slab->slot_count() : 0;
  const std::uint64_t more = slots - std::min(slots, given_up);
  std::uint64_t all = more;
  for (const Tenant& each : state.tenants) {
    for (const SlotClass& slot_class : each.classes) all += slot_class.slots;
  }
  KV_RETURN_IF_ERROR(records_reserve(state, all));
  return directory_make_room(state, tenant, more);
}

// An empty slab of another class: rebalancing between spaces of one namespace.
Donation empty_slab_of_other_class(StoreState& state, Tenant& tenant, std::uint32_t wanted) {
  for (std::uint32_t i = 0; i < tenant.classes.size(); ++i) {
    if (i == wanted) continue;
    for (const SlabIndex index : tenant.classes[i].with_free) {
      Slab& slab = state.memory.slab(index);
      const bool is_taken = slab.is_emptying && !emptying_is_done_for(state, tenant, wanted, slab);
      if (slab.holds_only_stock() && !slab.is_revoking && !is_taken && stock_leaves_slab(state, slab))
        return {&slab, &tenant.classes[i]};
    }
  }
  return {};
}

bool is_within_quota(const Tenant& tenant, const Slab& slab) {
  return tenant.bytes_max == 0 || tenant.slab_bytes + slab.bytes() <= tenant.bytes_max;
}

// A slab that is cut anew leaves its class when nothing but the cut itself can fail, and stays there if it does.
Status cut(StoreState& state, const Tenant& tenant, const SlotClass& slot_class, const Donation& donation) {
  Slab& slab = *donation.slab;
  if (donation.donor != nullptr) slabs_leave_class(state, *donation.donor, slab);
  Status status = slab.assign(tenant.id, slot_class.slot_bytes);
  if (donation.donor == nullptr) return status;
  if (slab.is_emptying) emptying_end(state);
  if (!status.is_ok()) slabs_join_class(state, *donation.donor, slab);
  state.stats.slab_reshapes += status.is_ok() ? 1 : 0;
  return status;
}

bool assign(StoreState& state, Tenant& tenant, SlotClass& slot_class, const Donation& donation) {
  Slab& slab = *donation.slab;
  const auto count = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(slab.bytes() / slot_class.slot_bytes, slab.slots_max()));
  if (!reserve_metadata(state, tenant, donation, count).is_ok()) return false;
  for (const SessionIndex index : tenant.sessions) {
    if (!slabs_reserve_pins(state, *state.session(index), slab, count).is_ok()) return false;
  }
  if (!cut(state, tenant, slot_class, donation).is_ok()) return false;
  RestartSlab& kept = state.restart.slabs()[index_of(slab.index())];
  kept.slot_bytes = slot_class.slot_bytes;
  // A slab that is cut anew keeps its writer: it can still write there.
  const Session* writer = state.session(slab.writer);
  kept.writer_session = writer != nullptr ? writer->id : 0;
  kept.tenant_plus_one = index_of(tenant.id) + 1;
  slabs_join_class(state, slot_class, slab);
  announce(state, tenant, slab);
  return true;
}

}  // namespace

bool slabs_assign_one(StoreState& state, Tenant& tenant, std::uint32_t slot_class, Cause& cause) {
  const Donation donation = empty_slab_of_other_class(state, tenant, slot_class);
  if (donation.slab != nullptr) {
    const bool is_assigned = assign(state, tenant, tenant.classes[slot_class], donation);
    if (!is_assigned) cause = Cause::kIndexFull;
    return is_assigned;
  }
  Slab* slab = state.memory.take_unassigned();
  if (slab == nullptr) {
    cause = Cause::kTierFull;
    return false;
  }
  if (!is_within_quota(tenant, *slab) || !assign(state, tenant, tenant.classes[slot_class], {.slab = slab})) {
    cause = is_within_quota(tenant, *slab) ? Cause::kIndexFull : Cause::kQuota;
    state.memory.put_unassigned(*slab);
    return false;
  }
  tenant.slabs.push_back(slab->index());
  tenant.slab_bytes += slab->bytes();
  ++state.stats.slabs_assigned;
  return true;
}

Status slabs_reserve_pins(StoreState& state, const Session& session, const Slab& slab,
                          std::uint32_t slot_count) {
  const std::uint64_t offset = ChannelLayout::kPins + index_of(slab.index()) * state.pins_stride;
  return shm_reserve(session.channel_fd.get(), offset, round_up(pin_table_bytes(slot_count), kPageBytes));
}

void slabs_join_class(StoreState& state, SlotClass& slot_class, Slab& slab) {
  slot_class.slabs.push_back(slab.index());
  slot_class.with_free.reserve(slot_class.slabs.capacity());  // each slab has its place there
  slot_class.slots += slab.slot_count();
  slot_class.slots_free += slab.free_count();
  slot_class.evictor->set_capacity(static_cast<std::uint32_t>(slot_class.slots));
  state.stats.slots_free += slab.free_count();
  if (slab.free_count() > 0) slabs_mark_free(state, slot_class, slab);
}

void slabs_leave_class(StoreState& state, SlotClass& slot_class, Slab& slab) {
  slabs_mark_full(state, slot_class, slab);
  std::erase(slot_class.slabs, slab.index());
  slot_class.slots -= slab.slot_count();
  slot_class.slots_free -= slab.free_count();
  slot_class.evictor->set_capacity(static_cast<std::uint32_t>(slot_class.slots));
  state.stats.slots_free -= slab.free_count();
}

std::uint64_t slabs_pins_stride(const HostMemory& memory) {
  const std::uint64_t slots =
      std::min<std::uint64_t>(memory.slab_bytes() / kSlotAlignment, SlotRef::kSlotsMax);
  return round_up(pin_table_bytes(slots), kPageBytes);
}

void slabs_mark_full(StoreState& state, SlotClass& slot_class, Slab& slab) {
  if (slab.free_list_position == ~0U) return;
  const SlabIndex last = slot_class.with_free.back();
  slot_class.with_free[slab.free_list_position] = last;
  state.memory.slab(last).free_list_position = slab.free_list_position;
  slot_class.with_free.pop_back();
  slab.free_list_position = ~0U;
}

void slabs_mark_free(StoreState&, SlotClass& slot_class, Slab& slab) {
  if (slab.free_list_position != ~0U) return;
  slab.free_list_position = static_cast<std::uint32_t>(slot_class.with_free.size());
  slot_class.with_free.push_back(slab.index());
}

}  // namespace kvtier
