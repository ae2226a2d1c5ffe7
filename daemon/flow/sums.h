#pragma once
// kSums: the sums of blocks that a client has leased and is to verify. A block that waits for its sum gets it at once, and
// the answer waits for it, in the table of waits. With kFlagDoubt the answer waits for the daemon's own look (doubts.h).

#include "daemon/flow/command.h"

namespace kvtier {

/// Of one session's open kSums together: what its answers cost when they end all at once.
inline constexpr std::uint32_t kSumsWaitingMax = 1U << 14;

/// False: against the protocol. kBusy: the session's open ones have too many entries, or one of them is a doubt as well.
bool sums_start(const Command& command);
/// Fills in the entries in the arena, as they are there now. How many have a sum.
std::uint32_t sums_write(StoreState& state, const Session& session, const SumsAsked& asked);

}  // namespace kvtier
