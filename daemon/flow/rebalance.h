#pragma once
// Memory follows demand: a slab with the coldest blocks leaves its slot size, or its namespace, for one that
// has none or whose own blocks are much hotter. Inside a namespace the emptied slab is cut anew. Across
// namespaces its memory is never reused (DESIGN 3, Revocation): clients unmap it, it is closed, and a new one
// is made.

#include "daemon/flow/state.h"

namespace kvtier {

/// Empties a slab of another slot size of the namespace for this class. True: slabs_assign_one will find it.
bool rebalance_classes(StoreState& state, Tenant& tenant, std::uint32_t slot_class);

/// The namespace has less than its share: memory may be taken from others for it.
bool rebalance_is_due(StoreState& state, const Tenant& tenant);
/// Begins to take a slab from the namespace, an unused one or else that of one of its coldest blocks. False: all
/// that were tried are in use.
bool rebalance_shrink(StoreState& state, Tenant& tenant);

/// Begins to take a slab from the namespace with the most memory above its share. True: one is on its way
/// (asked for now or before); a deferred reservation is tried again when it arrived.
bool rebalance_tenants(StoreState& state, Tenant& tenant);

/// A session came back after the daemon's restart: it is told of the slabs that leave its namespace.
void rebalance_resumed(StoreState& state, const Session& session);
/// A client unmapped a slab that is being taken away.
void rebalance_unmapped(StoreState& state, const Session& session, const SlabAck& ack);
/// A session is gone: it maps nothing any more.
void rebalance_session_gone(StoreState& state, const Session& session);

}  // namespace kvtier
