#pragma once
// Who may write in a slab (DESIGN 3, Revocation): one session at a time, in the slabs lent to it. A slab
// stays with its last writer until another session needs it; then the writer is asked to map it read-only,
// and the slab is lent on once it answered, or exited.

#include "daemon/flow/state.h"

namespace kvtier {

/// The session may be given slots of this slab now.
inline bool lending_allows(const Slab& slab, const Session& session) {
  return !slab.is_revoking && !slab.is_emptying &&
         (slab.writer == session.index || slab.writer == SessionIndex::kNone);
}
void lending_lend(StoreState& state, Slab& slab, Session& session);

/// The session writes in as many slabs of the class as an equal split between its writers gives it.
bool lending_has_fair_share(StoreState& state, const Tenant& tenant, std::uint32_t slot_class,
                            const Session& session);

/// Asks another writer for a slab of the class that it is not filling now: the one with most free slots, else one
/// that only a stock keeps, else the one with the coldest block. True: a revocation is under way, an answer will come.
/// False: there is none to ask for.
bool lending_revoke_for(StoreState& state, Tenant& tenant, std::uint32_t slot_class, const Session& session);

/// The writer's answer. Wakes deferred reservations.
void lending_acknowledged(StoreState& state, Session& session, const SlabAck& ack);
/// A session came back after the daemon's restart: what it was writing is asked back, slab by slab.
void lending_resumed(StoreState& state, Session& session);
/// The session hung up: no answer will come before its process exits. Who waited for one looks elsewhere.
void lending_hung_up(StoreState& state, const Session& session);
/// The writer's process is gone.
void lending_writer_gone(StoreState& state, Session& session);

}  // namespace kvtier
