#include "daemon/flow/checksums.h"

#include "daemon/flow/adopt.h"
#include "daemon/flow/doubts.h"
#include "daemon/flow/wait.h"

namespace kvtier {
namespace {

// Generations are a slot's: the record may be used again, for another slot, with the same one. It is not unverified then.
bool is_due(const BlockRecord& record, Generation generation) {
  return record.state == BlockState::kReady && record.generation == generation &&
         (record.flags & kBlockUnverified) != 0 && (record.flags & kBlockBusy) == 0;
}

BlockId next_adopted(StoreState& state) {
  while (state.adopted_next < state.adopted.size()) {
    const AdoptedBlock& adopted = state.adopted[state.adopted_next++];
    if (is_due(state.blocks[adopted.block], adopted.generation)) return adopted.block;
  }
  return BlockId::kNone;
}

ChecksumJob next_doubted(StoreState& state) {
  const Doubt doubt = doubts_next(state);
  return {.block = doubt.block, .is_doubted = true, .is_restored = doubt.is_restored};
}

// Doubts come from clients, who may have many: neither side keeps the other waiting.
ChecksumJob next_of_two(StoreState& state) {
  state.is_doubts_turn = !state.is_doubts_turn;
  ChecksumJob job;
  if (state.is_doubts_turn) job = next_doubted(state);
  if (job.block == BlockId::kNone) job = {.block = state.sums.pop_due(state.blocks, state.now())};
  if (job.block == BlockId::kNone && !state.is_doubts_turn) job = next_doubted(state);
  return job;
}

}  // namespace

void checksum_schedule(StoreState& state, BlockId id) {
  state.sums.push(state.blocks, id, state.now());
}

void checksum_forget(StoreState& state, BlockId id) {
  if ((state.blocks[id].flags & kBlockQueued) != 0) state.sums.remove(state.blocks, id);
}

void checksum_hurry(StoreState& state, BlockId id) {
  if ((state.blocks[id].flags & kBlockQueued) != 0) state.sums.hurry(state.blocks, id);
}

std::optional<ChecksumJob> checksum_take(StoreState& state) {
  if (state.sums_in_flight >= kSumsInFlightMax) return std::nullopt;
  ChecksumJob job{.block = next_adopted(state)};
  if (job.block == BlockId::kNone) job = next_of_two(state);
  if (job.block == BlockId::kNone) return std::nullopt;
  BlockRecord& record = state.blocks[job.block];
  record.flags |= kBlockBusy;
  ++state.sums_in_flight;
  const Space& space = state.space_of(record);
  job.generation = record.generation;
  job.bytes = {state.slab_of(record.slot).payload(record.slot.slot()), space.block_bytes};
  return job;
}

void checksum_put(StoreState& state, const ChecksumJob& job, std::uint64_t sum) {
  BlockRecord& record = state.blocks[job.block];
  KV_CHECK(record.generation == job.generation && (record.flags & kBlockBusy) != 0, "a busy block stays");
  record.flags &= static_cast<std::uint16_t>(~kBlockBusy);
  --state.sums_in_flight;
  ++state.stats.checksums;
  if ((record.flags & kBlockUnverified) != 0) return adopt_verified(state, job.block, sum == record.checksum);
  if (job.is_doubted) return doubt_judge(state, job, sum == record.checksum);
  record.checksum = sum;
  record.flags |= kBlockSummed;
  waits_resolve(state, job.block, true);
}

std::uint64_t checksums_due_count(const StoreState& state) {
  return state.sums.size() + state.unverified;
}

TimeNs checksums_next_due(const StoreState& state) {
  if (state.sums_in_flight >= kSumsInFlightMax) return kNever;
  const bool is_due = state.adopted_next < state.adopted.size() || !state.doubts.empty();
  return is_due ? 0 : state.sums.next_due_ns();
}

}  // namespace kvtier
