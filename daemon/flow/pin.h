#pragma once
// kPin and kUnpin: blocks that stay until an expiry, whoever lives. Not leases: a pin is the daemon's own
// promise.

#include <span>

#include "daemon/flow/state.h"

namespace kvtier {

/// Pins the keys that are ready, for `ttl_ns` from now; pinning again replaces the client's own expiry. Of the pins of
/// several clients a block keeps the two that last longest. Returns how many are pinned; kNoSpace when the namespace's share of pinned memory is used up (those that fitted stay
/// pinned).
Code pin_keys(StoreState& state, Session& session, SpaceId space, std::span<const Key> keys, TimeNs ttl_ns,
              std::uint32_t& count);
/// Ends this client's own pins, and those of clients that closed; returns how many blocks had one.
std::uint32_t unpin_keys(StoreState& state, Session& session, SpaceId space, std::span<const Key> keys);
/// The pin that lasts longest; its client may have closed since. Null: it is not pinned.
const Pin* pin_of(const StoreState& state, BlockId id);
bool pin_is_of(const StoreState& state, BlockId id, const Session& session);
/// A namespace's host memory, of which limits.pinned_fraction_* are parts.
std::uint64_t pin_share_bytes(const StoreState& state, const Tenant& tenant);
/// Ends a block's pins, if it has any: before its slot goes.
bool pin_drop(StoreState& state, BlockId id);
/// Ends some of the pins whose time is over; returns how many.
std::size_t pins_expire(StoreState& state);
/// kNever: there is none.
TimeNs pins_next_expiry(const StoreState& state);

}  // namespace kvtier
