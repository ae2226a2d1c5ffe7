#include "daemon/flow/evict.h"

#include <algorithm>

#include "daemon/flow/access.h"
#include "daemon/flow/cool.h"
#include "daemon/flow/demote.h"
#include "daemon/flow/evict_gather.h"
#include "daemon/flow/pin.h"
#include "daemon/flow/sync.h"
#include "daemon/flow/unpublish.h"

namespace kvtier {
namespace {

bool is_pinned_by_any(StoreState& state, Tenant& tenant, const Slab& slab, std::uint32_t slot) {
  for (const SessionIndex index : tenant.sessions) {
    Session& session = *state.session(index);
    if (!Pins::is_pinned(session.pin(slab, slot, state.pins_stride))) continue;
    ++session.pins_seen;
    return true;
  }
  return false;
}

// Whose pin it is that keeps a block, also after the client closed.
void note_pinner(StoreState& state, const Pin& pin) {
  if (Session* session = state.session(pin.session, pin.session_id); session != nullptr) {
    ++session->pins_seen;
    return;
  }
  Pinner& pinner = state.pinners.at(pin.session_id);
  if (pinner.seen_pass != state.evict_passes) pinner.seen = 0;
  pinner.seen_pass = state.evict_passes;
  if (++pinner.seen <= state.closed_seen) return;
  state.closed_seen = pinner.seen;
  state.closed_pid = pin.pid;
}

void begin_count(StoreState& state, const Tenant& tenant) {
  ++state.evict_passes;
  state.closed_seen = state.closed_pid = 0;
  for (const SessionIndex index : tenant.sessions) state.session(index)->pins_seen = 0;
}

void blame(StoreState& state, const Tenant& tenant, EvictPass& pass) {
  std::uint32_t most = state.closed_seen;
  pass.pinned_by_pid = state.closed_pid;
  for (const SessionIndex index : tenant.sessions) {
    const Session& session = *state.session(index);
    if (session.pins_seen <= most) continue;
    most = session.pins_seen;
    pass.pinned_by_pid = session.request.pid;
  }
}

// A pass for clean blocks would find what the last one found, as long as the answers that change it are still to come.
bool is_barren(const StoreState& state, const EvictRequest& request) {
  const BarrenEnd& barren = request.tenant->classes[request.slot_class].barren;
  if (!request.spares_unsaved || barren.unsaved == 0 || request.scan_max > kCleanScanMax) return false;
  const bool is_same = barren.session == SessionIndex::kNone ||
                       (request.session != nullptr && request.session->index == barren.session);
  return is_same && state.disk->puts_open > 0;
}

// What the next pass for clean blocks need not look for.
void note_barren(const EvictRequest& request, const EvictPass& pass, std::size_t found) {
  BarrenEnd& barren = request.tenant->classes[request.slot_class].barren;
  const bool has_left_some = request.is_all_or_nothing && found > 0;
  if (!request.spares_unsaved || found == request.count || has_left_some) return;
  barren = {.unsaved = pass.unsaved,
            .session = request.session != nullptr ? request.session->index : SessionIndex::kNone};
}

// What is clean runs out, or did: more is to be saved. Not for a background pass that took nothing: it comes again and
// again, and in a full tier each put costs another copy.
bool needs_saving(const EvictRequest& request, const EvictPass& pass) {
  return pass.evicted > 0 || (pass.unsaved > 0 && request.session != nullptr);
}

}  // namespace

Code evict_begin(StoreState& state, BlockId id) {
  BlockRecord& record = state.blocks[id];
  if (record.state != BlockState::kReady) return Code::kNotFound;
  if (!state.tree->has_only_leaving_children(id)) return Code::kExists;
  if ((record.flags & (kBlockPinned | kBlockBusy | kBlockStoring)) != 0) {
    if (const Pin* pin = pin_of(state, id); pin != nullptr) note_pinner(state, *pin);
    return Code::kBusy;
  }
  Tenant& tenant = state.tenants[record.tenant];
  Slab& slab = state.slab_of(record.slot);
  const std::uint32_t slot = record.slot.slot();
  const auto outcome =
      Pins::try_evict(slab.table().cell(slot), [&] { return is_pinned_by_any(state, tenant, slab, slot); });
  KV_CHECK(outcome != EvictOutcome::kNotReady, "a ready block has a ready slot");
  if (outcome == EvictOutcome::kPinned) {
    ++state.stats.evict_put_back;
    return Code::kBusy;
  }
  state.blocks.set_state(id, BlockState::kEvicting);
  return Code::kOk;
}

void evict_finish(StoreState& state, BlockId id) {
  state.class_of(state.blocks[id]).evictor->remember(id);
  if ((state.blocks[id].flags & kBlockOnDisk) != 0) return block_cool(state, id);
  if (state.disk) ++state.stats.evictions_unsaved;
  sync_on_unsaved(state, id);
  if (state.disk && !demote_admits(state, id)) ++state.stats.evictions_not_admitted;
  block_unpublish(state, id);
  block_free(state, id);
}

void evict_put_back(StoreState& state, BlockId id) {
  const BlockRecord& record = state.blocks[id];
  KV_CHECK(state.slab_of(record.slot).table().put_back(record.slot.slot()),
           "an evicting block has an evicting slot");
  state.blocks.set_state(id, BlockState::kReady);
}

EvictPass evict_for(StoreState& state, const EvictRequest& request) {
  if (is_barren(state, request)) {
    state.evict_scratch.unsaved.clear();
    return {.unsaved = request.tenant->classes[request.slot_class].barren.unsaved};
  }
  access_before_pass(state, *request.tenant);
  begin_count(state, *request.tenant);
  EvictPass pass;
  const std::span<const BlockId> victims = evict_gather(state, request, pass);
  const bool is_enough = !request.is_all_or_nothing || victims.size() == request.count;
  // Last gathered first when putting back, first gathered first when finishing: children leave before
  // parents.
  for (const BlockId id : victims) {
    if (is_enough) {
      evict_finish(state, id);
    } else {
      evict_put_back(state, id);
    }
  }
  if (is_enough) pass.evicted = static_cast<std::uint32_t>(victims.size());
  state.stats.evictions += pass.evicted;
  note_barren(request, pass, victims.size());
  if (needs_saving(request, pass)) demote_is_due(state, *request.tenant, request.slot_class);
  if (pass.pinned > 0) blame(state, *request.tenant, pass);
  return pass;
}

std::size_t evict_background(StoreState& state) {
  std::size_t evicted = 0;
  for (Tenant& tenant : state.tenants) {
    const bool has_room = state.memory.unassigned_count() > 0 && tenant.bytes_max == 0;
    for (std::uint32_t i = 0; i < tenant.classes.size() && !has_room; ++i) {
      const SlotClass& slot_class = tenant.classes[i];
      const std::uint64_t low_water =
          std::min<std::uint64_t>(state.options.low_water_blocks, slot_class.slots / 8);
      if (slot_class.slots_free >= low_water || slot_class.evictor->size() == 0) continue;
      const auto missing = static_cast<std::uint32_t>(low_water - slot_class.slots_free);
      evicted += evict_for(state, {.tenant = &tenant,
                                   .slot_class = i,
                                   .session = nullptr,
                                   .count = missing,
                                   .spares_unsaved = demote_works(state),
                                   .scan_max = demote_works(state) ? kCleanScanMax : kEvictScanMax})
                     .evicted;
    }
  }
  return evicted;
}

}  // namespace kvtier
