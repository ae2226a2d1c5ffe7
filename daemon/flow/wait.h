#pragma once
// kWait: an answer once none of the given keys is pending any more. kCancel ends one. Waits for sums (sums.h) are of the
// same table, and end the same way.

#include <span>

#include "daemon/flow/state.h"

namespace kvtier {

/// kBusy: the session's open waits together concern too many blocks.
void wait_start(StoreState& state, Session& session, const Submission& submission, std::span<const Key> keys);
/// Answers a wait, or opens it: until all of `blocks` (each may be there many times; sorted here) were resolved.
/// kBusy as above.
void wait_begin(StoreState& state, Session& session, Wait wait, std::vector<BlockId>& blocks);
void wait_answer(StoreState& state, const Wait& wait, Code code);
void wait_cancel(StoreState& state, Session& session, std::uint32_t request_id);
/// A pending block was published or is gone, or a block's sum is there: counts down every wait on it.
void waits_resolve(StoreState& state, BlockId id, bool is_ready);
/// Answers kDeadline to the waits whose time is over.
std::size_t waits_expire(StoreState& state);
/// The session ended: nobody listens any more.
void waits_forget(StoreState& state, const Session& session);
[[nodiscard]] TimeNs waits_next_deadline(const StoreState& state);

}  // namespace kvtier
