#pragma once
// Commands as clients send them: checked here, and nowhere else, before a verb sees them.

#include "daemon/flow/state.h"

namespace kvtier {

/// Runs one command. False: it was not one (unknown op, a range outside the arena, too many keys); `why` says
/// what, and the session is to end.
bool submit_command(StoreState& state, Session& session, const Submission& submission, std::string& why);

/// Tries deferred reservations whose slab came back, and answers those whose time is over. Returns how many
/// ended.
std::size_t deferred_step(StoreState& state);
[[nodiscard]] TimeNs deferred_next_deadline(const StoreState& state);

}  // namespace kvtier
