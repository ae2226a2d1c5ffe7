#pragma once
// Emptying a slab that is to be cut anew for another slot size, or to leave its namespace: it is looked through for
// blocks that stay, then its blocks, and those below them in the tree, are evicted; all in bounded steps. One at a
// time. Meanwhile nobody gets slots of the slab; its blocks that are still there are found and leased as ever. A slab
// that somebody keeps is left as it is and another one tried; why none could be had is in SlotClass::refusal.

#include "daemon/flow/state.h"

namespace kvtier {

/// Begins with the slab of one of the donor's coldest blocks. False: there is none to try, or it is too early to try
/// again. Not while one is under way.
bool emptying_begin(StoreState& state, Tenant& tenant, std::uint32_t donor, const EmptyingPurpose& purpose);

/// Looks at or evicts a few blocks. Once the slab is empty it leaves its namespace, or waits a turn for the class that wants
/// it, whose deferred reservation is woken. Returns the blocks and slots looked at.
std::size_t emptying_step(StoreState& state);

/// When there is something to do; kNever: nothing is emptied, or only puts are waited for.
[[nodiscard]] TimeNs emptying_next_ns(const StoreState& state);

/// The slab is empty and waits for this class.
bool emptying_is_done_for(const StoreState& state, const Tenant& tenant, std::uint32_t slot_class,
                          const Slab& slab);
/// It got it.
void emptying_end(StoreState& state);

}  // namespace kvtier
