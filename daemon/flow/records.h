#pragma once
// Records of the block table: room for them, and who gives way when they run short. A block in memory always finds one;
// cold blocks have what is left.

#include "daemon/flow/state.h"

namespace kvtier {

/// Pages for the records of `slots` slots and of the cold blocks that there are, as far as blocks_max goes. kNoSpace: not
/// even for the slots.
Status records_reserve(StoreState& state, std::uint64_t slots);

/// A record; the coldest cold block gives its own up if there is none. kNone: none does.
BlockId record_take(StoreState& state, BlockState as);
/// Of a block that is unpublished and has no slot.
void record_free(StoreState& state, BlockId id);

/// With a disk: there is a record for one more cold block beside those that are kept free; grows if it may.
bool records_have_room(StoreState& state);

/// With a disk: records, index and directories grow ahead of need, or, where they cannot, the coldest cold blocks leave.
/// A bounded piece; returns what was done.
std::size_t records_step(StoreState& state);

}  // namespace kvtier
