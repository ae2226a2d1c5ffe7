#pragma once
// A block that has a slot and is not ready: how it gets its key, and which session writes it.

#include "daemon/flow/state.h"

namespace kvtier {

/// How far up a new block refreshes the recency of the prefix that it continues: enough for the blocks around it; a
/// chain that is used at all is refreshed as a whole by the access log.
inline constexpr std::uint32_t kTouchAncestorsMax = 512;

/// Makes the block known under its record's key: index, directory, below `parent` in the tree. kNoSpace: the index or
/// the directory is full, nothing changed.
Code place_block(StoreState& state, BlockId id, BlockId parent);
/// A key's parent became known, or came back, after the key's block: puts it where it belongs.
void place_orphan(StoreState& state, BlockId id, BlockId parent);

/// Recovered blocks that came before this one, their parent, are put below it.
void place_children(StoreState& state, BlockId id);

/// The list of what a session writes, quarantined blocks included.
void writing_link(StoreState& state, Session& session, BlockId id);
void writing_unlink(StoreState& state, Session& session, BlockId id);
/// The writer is done with a slot whose block must not be published: it comes back.
void writing_give_up(StoreState& state, Session& session, BlockId id);

}  // namespace kvtier
