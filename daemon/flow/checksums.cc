#include "daemon/flow/checksums.h"

#include "daemon/flow/adopt.h"

namespace kvtier {
namespace {

constexpr TimeNs kDelayNs = kNsPerSecond;

// Generations are a slot's: a record that was used again, for another slot, can have the same one, and then stands
// in the queue twice. It is summed once.
bool is_due(StoreState& state, BlockId id, Generation generation) {
  const BlockRecord& record = state.blocks[id];
  if (record.state != BlockState::kReady || record.generation != generation) return false;
  if ((record.flags & kBlockBusy) != 0) return false;
  return (record.flags & kBlockSummed) == 0 || (record.flags & kBlockUnverified) != 0;
}

}  // namespace

void checksum_schedule(StoreState& state, BlockId id) {
  state.sums.push_back(
      {.block = id, .generation = state.blocks[id].generation, .due_ns = state.now() + kDelayNs});
}

std::optional<ChecksumJob> checksum_take(StoreState& state) {
  if (state.sums_in_flight >= kSumsInFlightMax) return std::nullopt;
  const TimeNs now = state.now();
  while (!state.sums.empty() && state.sums.front().due_ns <= now) {
    const SumEntry entry = state.sums.front();
    state.sums.pop_front();
    if (!is_due(state, entry.block, entry.generation)) continue;
    BlockRecord& record = state.blocks[entry.block];
    record.flags |= kBlockBusy;
    ++state.sums_in_flight;
    const Space& space = state.tenants[record.tenant].spaces[static_cast<std::uint32_t>(record.space) - 1];
    const std::byte* payload = state.slab_of(record.slot).payload(record.slot.slot());
    return ChecksumJob{entry.block, entry.generation, {payload, space.block_bytes}};
  }
  return std::nullopt;
}

void checksum_put(StoreState& state, const ChecksumJob& job, std::uint64_t sum) {
  BlockRecord& record = state.blocks[job.block];
  KV_CHECK(record.generation == job.generation && (record.flags & kBlockBusy) != 0, "a busy block stays");
  record.flags &= static_cast<std::uint16_t>(~kBlockBusy);
  --state.sums_in_flight;
  ++state.stats.checksums;
  if ((record.flags & kBlockUnverified) != 0) return adopt_verified(state, job.block, sum == record.checksum);
  record.checksum = sum;
  record.flags |= kBlockSummed;
}

TimeNs checksums_next_due(const StoreState& state) {
  return state.sums.empty() || state.sums_in_flight >= kSumsInFlightMax ? kNever : state.sums.front().due_ns;
}

}  // namespace kvtier
