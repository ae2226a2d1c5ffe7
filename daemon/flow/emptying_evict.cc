#include "daemon/flow/emptying_evict.h"

#include <algorithm>

#include "daemon/flow/evict.h"

namespace kvtier {
namespace {

// What a step may do: some tenths of a millisecond.
constexpr std::uint32_t kStepEvictions = 256;
constexpr std::uint32_t kStepSlots = 4096;

// Children first, to any depth, without recursion: goes down to a leaf, evicts it, goes on with its parent. Returns
// the block that stays, if one does.
BlockId evict_subtree(StoreState& state, BlockId root, std::uint32_t& budget) {
  BlockId at = root;
  while (budget > 0) {
    const BlockRecord& record = state.blocks[at];
    if (record.first_child != BlockId::kNone) {
      at = record.first_child;
      continue;
    }
    const BlockId parent = record.parent;
    if (evict_begin(state, at) != Code::kOk) return at;
    evict_finish(state, at);
    ++state.stats.evictions;
    --budget;
    if (at == root) return BlockId::kNone;
    at = parent;
  }
  return BlockId::kNone;
}

// From next_slot on, as far as the budget goes. Returns the block that stays, if one does.
BlockId evict_slots(StoreState& state, Emptying& job, const Slab& slab, std::uint32_t& budget) {
  const std::uint32_t last = std::min(slab.slot_count(), job.next_slot + kStepSlots);
  while (job.next_slot < last && budget > 0) {
    const BlockId id = slab.block(job.next_slot);
    if (id != BlockId::kNone && state.blocks[id].state != BlockState::kReady) return id;
    const BlockId stays = id != BlockId::kNone ? evict_subtree(state, id, budget) : BlockId::kNone;
    if (stays != BlockId::kNone) return stays;
    if (slab.block(job.next_slot) == BlockId::kNone) ++job.next_slot;
  }
  return BlockId::kNone;
}

}  // namespace

EmptyingEvicted emptying_evict(StoreState& state, Emptying& job) {
  std::uint32_t budget = kStepEvictions;
  const std::uint32_t first = job.next_slot;
  const BlockId stays = evict_slots(state, job, state.memory.slab(job.slab), budget);
  const std::uint32_t evicted = kStepEvictions - budget;
  return {.stays = stays, .evicted = evicted, .looked = evicted + (job.next_slot - first) + 1};
}

}  // namespace kvtier
