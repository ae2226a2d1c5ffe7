#pragma once
// kPin and kUnpin: blocks that stay until an expiry, whoever lives. Not leases: a pin is the daemon's own
// promise.

#include <span>

#include "daemon/flow/state.h"

namespace kvtier {

/// Pins the keys that are ready, for `ttl_ns` from now; pinning again replaces the expiry. Returns how many
/// are pinned; kNoSpace when the namespace's share of pinned memory is used up (those that fitted stay
/// pinned).
Code pin_keys(StoreState& state, Session& session, SpaceId space, std::span<const Key> keys, TimeNs ttl_ns,
              std::uint32_t& count);
std::uint32_t unpin_keys(StoreState& state, Session& session, SpaceId space, std::span<const Key> keys);
/// Who pinned it last. Null: nobody, or a client that closed since; its pins stay until they expire.
Session* pin_holder(StoreState& state, BlockId id);
/// Ends a block's pin, if it has one: before its slot goes.
bool pin_drop(StoreState& state, BlockId id);
/// Ends some of the pins whose time is over; returns how many.
std::size_t pins_expire(StoreState& state);
/// kNever: there is none.
TimeNs pins_next_expiry(const StoreState& state);

}  // namespace kvtier
