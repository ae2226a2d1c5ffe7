#pragma once
// kSync: the answer says that what was committed before it is on disk behind an fdatasync, or what is not and why. A walk
// in steps puts what has no copy, whatever its admission, waits for the answers, and then sends a kFlush, the barrier. One
// job a turn; the conductor never waits.

#include "daemon/flow/command.h"
#include "daemon/flow/sync_job.h"

namespace kvtier {

/// Of a session, and of all.
inline constexpr std::size_t kSyncsMaxSession = 4;
inline constexpr std::size_t kSyncsMax = 64;
/// Nothing that is waited for came to disk for so long: what is not there is given up.
inline constexpr TimeNs kSyncPatienceNs = 5 * kNsPerSecond;

/// False: against the protocol.
bool sync_start(const Command& command);
/// An administrator's. Its number; 0: too many are under way.
std::uint64_t sync_begin(StoreState& state, const SyncTarget& target);
/// Nothing: there is no such sync (any more). One that is over is forgotten with this look.
std::optional<SyncView> sync_look(StoreState& state, std::uint64_t number);
/// Its session hung up: what is put is put, nobody is told.
void syncs_forget(StoreState& state, const Session& session);

/// A bounded piece. Returns the items looked at.
std::size_t sync_step(StoreState& state);
[[nodiscard]] TimeNs syncs_next_ns(const StoreState& state);

/// The tier's answer to a flush, also to one of its own that failed.
void sync_on_flushed(StoreState& state, const DiskNews& news);
/// A put was refused: by the write budget, which no later one passes, or else.
void sync_on_refused(StoreState& state, BlockId id, const DiskNews& news);
/// A block left memory for good, and was not on disk.
void sync_on_unsaved(StoreState& state, BlockId id);

}  // namespace kvtier
