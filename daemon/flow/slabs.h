#pragma once
// Slabs of a namespace: giving one out, announcing it, moving an empty one to another slot size.

#include "daemon/flow/state.h"

namespace kvtier {

/// Gives the class one more slab: an unassigned one, or an empty one of another class of the same namespace.
/// False with the cause in `cause` when there is none.
bool slabs_assign_one(StoreState& state, Tenant& tenant, std::uint32_t slot_class, Cause& cause);

/// Reserves the pages of the slab's pin counters in one channel: before the client can pin.
Status slabs_reserve_pins(StoreState& state, const Session& session, const Slab& slab,
                          std::uint32_t slot_count);

/// Counts an assigned slab in its class, without announcing it.
void slabs_join_class(StoreState& state, SlotClass& slot_class, Slab& slab);

void slabs_leave_class(StoreState& state, SlotClass& slot_class, Slab& slab);

/// Bytes of pin counters that each channel has for each slab.
std::uint64_t slabs_pins_stride(const HostMemory& memory);

/// Keeps SlotClass::with_free true to the slab.
void slabs_mark_full(StoreState& state, SlotClass& slot_class, Slab& slab);
void slabs_mark_free(StoreState& state, SlotClass& slot_class, Slab& slab);

}  // namespace kvtier
