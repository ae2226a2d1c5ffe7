#pragma once
// Reservations as the caller's array of kvc_slot holds them.

#include "libkvclient/src/handles.h"
#include "libkvclient/src/mappings.h"
#include "libkvclient/wire/commands.h"

namespace kvtier::client {

/// private_session: serial number of the session (it owns the mapping) and epoch of the connection (the
/// daemon forgets reservations when that ends).
constexpr std::uint64_t slot_session(std::uint32_t serial, std::uint32_t epoch) {
  return (std::uint64_t{serial} << 32) | epoch;
}
constexpr std::uint32_t slot_serial(std::uint64_t session) {
  return static_cast<std::uint32_t>(session >> 32);
}
constexpr std::uint32_t slot_epoch(std::uint64_t session) {
  return static_cast<std::uint32_t>(session);
}

constexpr Grant grant_of(const kvc_slot& slot) {
  return {SlotRef{slot.private_slot}, {slot.private_hold[0], slot.private_hold[1]}};
}

/// Commits or aborts what is reserved in `slots`; `op` says which.
Status finish_slots(Space& space, Op op, std::span<kvc_slot> slots, bool is_awaited, TimeNs deadline_ns);

}  // namespace kvtier::client
