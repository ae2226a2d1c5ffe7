#pragma once
// kRestore: blocks that are on disk only come back into memory. Each takes a slot, which the daemon fills and which is lent
// to nobody, and is pending until it is there; equal restores join, kWait waits for it. What a session asked for goes on
// without it.

#include "daemon/flow/command.h"

namespace kvtier {

/// Answers: count is that of the leading keys that are in memory or on their way; kNoSpace: some that are on disk found no
/// slot.
void restore_start(const Command& command, std::span<const Key> keys);

/// Sends what waits for its turn, within bounds. Returns how many.
std::size_t restore_step(StoreState& state);

/// The tier's answer: the block is ready, cold again, or gone.
void restore_on_get(StoreState& state, const DiskNews& news);
/// The device gave the slot of an answered get back.
void restore_on_released(StoreState& state, std::uint32_t number);

/// A block that is being restored leaves: a miss from here on. Its slot comes back when the tier has answered.
void restore_drop(StoreState& state, BlockId id);

}  // namespace kvtier
