#pragma once
// What an administrator takes away for good: out of memory and off the disk, with marks, so that no restart brings it back.
// A namespace, a space or everything goes as an invalidation takes it; of single keys each gets a mark of its own.

#include <string>

#include "daemon/flow/admin_types.h"
#include "daemon/flow/state.h"

namespace kvtier {

/// Commands to the disk for which a step needs room, and marks that it may send.
inline constexpr std::uint32_t kPurgeMarksMax = 256;

/// A new purge; its number goes into the cursor. 0: as many as there may be are under way.
std::uint64_t purge_open(StoreState& state);
/// One thing less to wait for. `count`: blocks that are gone with it.
void purge_on_done(StoreState& state, std::uint64_t number, Code code, std::uint64_t count);
/// All that it waits for has ended, and it is forgotten; else null optional.
std::optional<Purge> purge_take_done(StoreState& state, std::uint64_t number);
/// The block is about to go: the disk is told of its key, if it knows its space. There is room.
void purge_mark(StoreState& state, BlockId id, std::uint64_t number);
/// Of a purge_open() that gave none.
Status purge_refusal();
/// Why what was removed may come back; kOk: it does not.
Status purge_status(Code code);

/// All of the filter, leased, pinned and reserved blocks included: the next step of it.
EvictReport purge_matching(StoreState& state, const BlockFilter& filter, const EvictCursor& from);

}  // namespace kvtier
