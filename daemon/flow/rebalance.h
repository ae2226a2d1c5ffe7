#pragma once
// Memory follows demand: a slab with the coldest blocks leaves its slot size, or its namespace, for one that
// has none or whose own blocks are much hotter. Inside a namespace the emptied slab is cut anew. Across
// namespaces its memory is never reused (DESIGN 3, Revocation): clients unmap it, it is closed, and a new one
// is made.

#include "daemon/flow/state.h"

namespace kvtier {

/// A slab of another slot size of the namespace is being emptied for this class (begun now, if it may be, or
/// before), or one for somebody else is first. True: a deferred reservation is woken when it is over.
/// A class that has room for the wish gets only what is much older than its own blocks.
struct ClassWish {
  std::uint64_t slots = 0;  ///< of which less is no use; 0: any
  bool may_begin = false;
};
bool rebalance_classes(StoreState& state, Tenant& tenant, std::uint32_t slot_class, const ClassWish& wish);

/// The namespace has less than its share: memory may be taken from others for it.
bool rebalance_is_due(StoreState& state, const Tenant& tenant);
/// Begins to take a slab from the namespace: an unused one, or else one that is emptied first. True: one is on its
/// way. False: there is none to try.
bool rebalance_shrink(StoreState& state, Tenant& tenant);

/// Begins to take a slab from the namespace with the most memory above its share. True: one is on its way
/// (asked for now or before); a deferred reservation is tried again when it arrived. A namespace with a client that does
/// not answer is not waited for beyond kAnswerPatienceNs: the next one is asked.
bool rebalance_tenants(StoreState& state, Tenant& tenant);

/// Why memory that others have could not be had just now for a reservation of this class, which was refused with
/// `cause`: somebody keeps a block in each slab that was tried. Null: that is not why.
const EmptyingRefusal* rebalance_refusal(StoreState& state, Tenant& tenant, std::uint32_t slot_class,
                                         Cause cause);

/// An empty slab of the class leaves its namespace: clients unmap it, then its memory is made anew.
void rebalance_retire(StoreState& state, Tenant& tenant, SlotClass& donor, Slab& slab);

/// A session came back after the daemon's restart: it is told of the slabs that leave its namespace.
void rebalance_resumed(StoreState& state, const Session& session);
/// The NVMe tier lets go of a slab that is being taken away.
void rebalance_let_go(StoreState& state, Slab& slab);
/// A client unmapped a slab that is being taken away.
void rebalance_unmapped(StoreState& state, const Session& session, const SlabAck& ack);
/// What the process kept of the namespace is free: nobody is refused for its sake any more.
void rebalance_forgive(Tenant& tenant, std::uint32_t pid);
/// A session is gone: it maps nothing any more.
void rebalance_session_gone(StoreState& state, const Session& session);

}  // namespace kvtier
