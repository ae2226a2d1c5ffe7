#pragma once
// Where slots for new blocks come from, in this order: free slots in slabs that the session may write, a slab
// that belongs to nobody, evictions, and last a slab that another session gives back (lending.h).

#include "daemon/flow/state.h"

namespace kvtier {

struct SlotRequest {
  Session* session = nullptr;
  Tenant* tenant = nullptr;
  std::uint32_t slot_class = 0;
  std::uint32_t count = 0;
  bool is_all_or_nothing = false;
  bool may_wait = false;             ///< the caller can be deferred: slabs of other writers may be asked for
  bool may_wait_for_saving = false;  ///< and for blocks to be written to disk before they leave
  bool is_for_stock = false;  ///< free slots and the session's coldest, nothing that costs anybody else
};

/// More than the namespace could ever hold in this class.
bool slots_is_hopeless(const StoreState& state, const SlotRequest& request);
/// The outcome lies in the state's scratch: the next take overwrites it.
SlotOutcome& slots_take(StoreState& state, const SlotRequest& request);
/// Slots that the store itself fills, from disk: of any slab, lent to nobody for it. Appends up to `count` to `out`.
void slots_take_own(StoreState& state, Tenant& tenant, std::uint32_t slot_class, std::uint32_t count,
                    std::vector<TakenSlot>& out);
/// Undoes a take: the slots are free again (their generations are not used twice).
void slots_return(StoreState& state, const TakenSlot& taken);
/// A slot that nobody can lease any more becomes free and is counted in its class.
void slot_release(StoreState& state, Tenant& tenant, SlotRef slot);

}  // namespace kvtier
