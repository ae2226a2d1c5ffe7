#pragma once
// Payload checksums: taken some time after the commit (a block that leaves at once never pays), compared
// after an adoption before the block is published, and when a client doubts (doubts.h).

#include "daemon/flow/state.h"

namespace kvtier {

void checksum_schedule(StoreState& state, BlockId id);
/// Somebody waits for the sum: the block waits no longer than those that are being summed.
void checksum_hurry(StoreState& state, BlockId id);
/// The block leaves: it waits no more, if it did.
void checksum_forget(StoreState& state, BlockId id);
std::optional<ChecksumJob> checksum_take(StoreState& state);
void checksum_put(StoreState& state, const ChecksumJob& job, std::uint64_t sum);
/// Blocks that may be handed out at once: while so many are, nothing is due, whatever the clock says.
inline constexpr std::uint32_t kSumsInFlightMax = 8;
[[nodiscard]] std::uint64_t checksums_due_count(const StoreState& state);
[[nodiscard]] TimeNs checksums_next_due(const StoreState& state);

}  // namespace kvtier
