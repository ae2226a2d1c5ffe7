#pragma once
// kInvalidate: a space's blocks (its weights changed), or a namespace's, are a miss from the answer on.
// Stores that began before it never appear. Walks the block table in steps; answers at the end.

#include "daemon/flow/state.h"

namespace kvtier {

/// False: the session has too many open.
bool invalidate_start(StoreState& state, Session& session, const Submission& submission);
/// One that no session asked for.
void invalidate_begin(StoreState& state, const Invalidation& job);
/// Tells whoever asked for it, if anybody still does.
void invalidation_answer(StoreState& state, const Invalidation& job, Code code);
/// Its session hung up: the answer is nobody's any more.
void invalidations_disown(StoreState& state, const Session& session);
/// A bounded piece of the oldest invalidation. Returns the records looked at.
std::size_t invalidate_step(StoreState& state);
/// kNever while the oldest one waits for the disk.
[[nodiscard]] TimeNs invalidations_next_ns(const StoreState& state);

}  // namespace kvtier
