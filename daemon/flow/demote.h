#pragma once
// Writing blocks to the NVMe tier before they leave memory. Write-back: the cold end of each class is kept clean ahead of
// need, a few blocks a turn; write-through: every committed block. What is written goes with the blocks above it that are
// not there yet, parents first, as one group, so that a prefix is laid out together. Clean blocks leave at once, and so do those that are not
// worth a put.

#include "daemon/flow/state.h"

namespace kvtier {

/// Puts are taken now: it is worth waiting for one.
[[nodiscard]] bool demote_works(const StoreState& state);
/// For as long as a reservation would wait no put was answered well: nobody waits again before one is.
[[nodiscard]] bool demote_is_silent(const StoreState& state);
/// The block is ready, not on disk, and could be.
[[nodiscard]] bool demote_can_save(const StoreState& state, BlockId id);

/// It is worth one of the puts that the day's write budget has left: always, unless little is; then if it was used since it
/// was computed, or if something on disk continues it.
[[nodiscard]] bool demote_admits(const StoreState& state, BlockId id);
/// It can be saved and is worth it.
[[nodiscard]] bool demote_wants(const StoreState& state, BlockId id);

/// Somebody needs slots of the class, so its cold end is to be clean: it will be looked at. Not for a copy that reclaim
/// drops: in a full tier each put costs one.
void demote_is_due(StoreState& state, Tenant& tenant, std::uint32_t slot_class);
/// A block was committed.
void demote_committed(StoreState& state, BlockId id);
/// Somebody waits for these to be clean: they go first, as far as puts may be open.
void demote_now(StoreState& state, std::span<const BlockId> blocks);
/// A bounded piece of what is due. Returns the blocks looked at.
std::size_t demote_step(StoreState& state);
/// When puts that failed are tried again, if some are due; kNever.
[[nodiscard]] TimeNs demote_next_ns(const StoreState& state);

/// The tier's answer to a put.
void demote_on_put(StoreState& state, const DiskNews& news);
/// The device gave the slot of an answered put back.
void demote_on_released(StoreState& state, BlockId id);

}  // namespace kvtier
