#pragma once
// What is said to the NVMe tier. Commands wait in the outbox while the mailbox is full; forgets, of which there may be as
// many as there are blocks, beside it.

#include "daemon/flow/disk_tier.h"
#include "daemon/flow/state.h"

namespace kvtier {

/// Without room nothing is decided that needs `count` commands. Answers to questions need not ask: places are kept.
[[nodiscard]] bool disk_has_room(const StoreState& state, std::size_t count);
void disk_send(StoreState& state, const DiskCommand& command);
/// Hands over what waits. Returns how much.
std::size_t disk_flush(StoreState& state);

/// The block is on disk at `locator`, from here on: written there just now, so not used since.
void disk_attach(StoreState& state, BlockId id, const DiskLocator& locator);
/// The block's copy is named by nobody from here on; none: nothing happens.
void disk_detach(StoreState& state, BlockId id);
/// A copy that no block names is given up.
void disk_forget(StoreState& state, const DiskLocator& locator);

/// A command about a block: tenant, space and key.
DiskCommand disk_command_of(const StoreState& state, BlockId id, DiskCommandKind kind);

}  // namespace kvtier
