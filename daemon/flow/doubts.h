#pragma once
// Blocks that a client found damaged (kSums with kFlagDoubt). Nobody is believed: the background agent sums them again, and
// what is really wrong is taken out. Until then it is not written to disk. Its copy on disk stays, as a cold block, and is
// itself compared when it was restored: it may have been written after the damage.

#include "daemon/flow/state.h"

namespace kvtier {

inline constexpr std::uint32_t kDoubtsWaitingMax = 4096;  ///< of all sessions

/// The block, which has a sum, is to be compared with it. False: there are too many that are.
bool doubt_add(StoreState& state, BlockId id);
/// A suspect block is back from disk.
void doubt_restored(StoreState& state, BlockId id);
/// One that is still there, taken off; block kNone: none is.
Doubt doubts_next(StoreState& state);
/// What a doubted block's sum came to.
void doubt_judge(StoreState& state, const ChecksumJob& job, bool is_right);

}  // namespace kvtier
