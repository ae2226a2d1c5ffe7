#include "daemon/flow/lending.h"

#include "daemon/flow/put.h"
#include "daemon/flow/stock.h"

namespace kvtier {
namespace {

// How many of the coldest blocks are looked at for a slab worth asking for.
constexpr std::uint32_t kColdestMax = 64;

bool can_revoke(StoreState& state, const Slab& slab, const Session& session) {
  if (slab.is_revoking || slab.is_emptying || slab.writing_count > 0) return false;
  if (slab.writer == SessionIndex::kNone || slab.writer == session.index) return false;
  return state.session(slab.writer)->life == Session::Life::kAttached;
}

void revoke(StoreState& state, Slab& slab) {
  slab.is_revoking = true;
  slab.asked_ns = state.now();
  ++slab.revoke_epoch;
  ++state.stats.slab_revokes;
  state.outbox->push_back({.kind = OutEvent::Kind::kSlabRevoke,
                           .session = slab.writer,
                           .slab = slab.index(),
                           .epoch = slab.revoke_epoch});
}

// The first of another writer's slabs that only a stock keeps, and that is out of it now.
Slab* slab_out_of_stock(StoreState& state, const SlotClass& candidates, const Session& session) {
  for (const SlabIndex index : candidates.slabs) {
    Slab& slab = state.memory.slab(index);
    if (slab.stocked_count > 0 && slab.writer != session.index && !slab.is_revoking &&
        stock_leaves_slab(state, slab)) {
      return &slab;
    }
  }
  return nullptr;
}

void wake_deferred(StoreState& state) {
  for (Deferred& deferred : state.deferred) deferred.is_ready = true;
}

void take_away(StoreState& state, Slab& slab) {
  Session* writer = state.session(slab.writer);
  if (writer != nullptr) --writer->slabs_lent;
  slab.writer = SessionIndex::kNone;
  slab.is_revoking = false;
  state.restart.slabs()[index_of(slab.index())].writer_session = 0;
  wake_deferred(state);
}

}  // namespace

void lending_lend(StoreState& state, Slab& slab, Session& session) {
  if (slab.writer == session.index) return;
  slab.writer = session.index;
  state.restart.slabs()[index_of(slab.index())].writer_session = session.id;
  ++session.slabs_lent;
  ++state.stats.slab_lends;
}

bool lending_has_fair_share(StoreState& state, const Tenant& tenant, std::uint32_t slot_class,
                            const Session& session) {
  std::size_t writers = session.slabs_lent > 0 ? 0 : 1;
  for (const SessionIndex index : tenant.sessions) writers += state.session(index)->slabs_lent > 0 ? 1 : 0;
  return session.slabs_lent * writers >= tenant.classes[slot_class].slabs.size();
}

bool lending_revoke_for(StoreState& state, Tenant& tenant, std::uint32_t slot_class, const Session& session) {
  SlotClass& candidates = tenant.classes[slot_class];
  Slab* best = nullptr;
  for (const SlabIndex index : candidates.with_free) {
    Slab& slab = state.memory.slab(index);
    if (can_revoke(state, slab, session) && (best == nullptr || slab.free_count() > best->free_count()))
      best = &slab;
  }
  if (best == nullptr) best = slab_out_of_stock(state, candidates, session);
  ColdEnd cold_end(state, *candidates.evictor);
  for (std::uint32_t i = 0; best == nullptr && i < kColdestMax; ++i) {
    const BlockId cold = cold_end.take();
    if (cold == BlockId::kNone) break;
    Slab& slab = state.slab_of(state.blocks[cold].slot);
    if (can_revoke(state, slab, session)) best = &slab;
  }
  if (best == nullptr) return false;
  revoke(state, *best);
  return true;
}

void lending_acknowledged(StoreState& state, Session& session, const SlabAck& ack) {
  if (ack.slab >= state.memory.slab_count()) return;
  Slab& slab = state.memory.slab(SlabIndex{ack.slab});
  if (slab.writer != session.index || ack.epoch != slab.revoke_epoch) return;  // an old answer
  const bool is_released = ack.state == SlabState::kReleased || ack.state == SlabState::kUnmapped;
  if (is_released) put_reclaim_slab(state, session, slab.index());
  if (is_released && slab.is_revoking) return take_away(state, slab);
  // Busy, or the release that follows a busy. Since the busy the writer may have been granted slots anew,
  // which it did not know of when it released: it keeps the slab.
  slab.is_revoking = false;
  wake_deferred(state);
}

void lending_resumed(StoreState& state, Session& session) {
  for (const SlabIndex index : state.tenant_of(session).slabs) {
    Slab& slab = state.memory.slab(index);
    if (slab.writer == session.index && slab.writing_count > 0) revoke(state, slab);
  }
}

void lending_hung_up(StoreState& state, const Session& session) {
  for (const SlabIndex index : state.tenant_of(session).slabs) {
    Slab& slab = state.memory.slab(index);
    if (slab.writer != session.index || !slab.is_revoking) continue;
    slab.is_revoking = false;
    wake_deferred(state);
  }
}

void lending_writer_gone(StoreState& state, Session& session) {
  if (session.slabs_lent == 0) return;
  for (const SlabIndex index : state.tenant_of(session).slabs) {
    Slab& slab = state.memory.slab(index);
    if (slab.writer == session.index) take_away(state, slab);
  }
}

}  // namespace kvtier
