#include "daemon/flow/emptying_evict.h"

#include <algorithm>

#include "daemon/flow/demote.h"
#include "daemon/flow/evict.h"

namespace kvtier {
namespace {

// What a step may do: some tenths of a millisecond.
constexpr std::uint32_t kStepEvictions = 256;
constexpr std::uint32_t kStepSlots = 4096;

struct Step {
  std::uint32_t budget = kStepEvictions;
  bool is_saving = false;  ///< it ends: a block is being written to disk
};

bool is_unsaved(const StoreState& state, BlockId id) {
  return demote_works(state) && ((state.blocks[id].flags & kBlockStoring) != 0 || demote_wants(state, id));
}

// Writes the slab's blocks from here on to disk, as far as puts may be open. False: it took too long, they go unsaved.
bool save_first(StoreState& state, Emptying& job, const Slab& slab, BlockId at) {
  const TimeNs now = state.now();
  if (job.saving_until_ns == 0) job.saving_until_ns = now + state.options.disk_wait_ns;
  if (now >= job.saving_until_ns) return false;
  std::vector<BlockId>& unsaved = state.evict_scratch.unsaved;
  unsaved.assign(1, at);
  const std::uint32_t end = std::min(slab.slot_count(), job.next_slot + kUnsavedMax);
  for (std::uint32_t slot = job.next_slot; slot < end && unsaved.size() < unsaved.capacity(); ++slot) {
    if (slab.block(slot) != BlockId::kNone) unsaved.push_back(slab.block(slot));
  }
  demote_now(state, unsaved);
  return true;
}

// Children first, to any depth, without recursion: goes down to a leaf, evicts it, goes on with its parent. Returns
// the block that stays, if one does.
BlockId evict_subtree(StoreState& state, Emptying& job, const Slab& slab, BlockId root, Step& step) {
  BlockId at = root;
  while (step.budget > 0) {
    if (const BlockId child = state.tree->first_host_child(at); child != BlockId::kNone) {
      at = child;
      continue;
    }
    const BlockId parent = state.blocks[at].parent;
    if (is_unsaved(state, at) && save_first(state, job, slab, at)) {
      step.is_saving = true;
      return BlockId::kNone;
    }
    if (evict_begin(state, at) != Code::kOk) return at;
    evict_finish(state, at);
    ++state.stats.evictions;
    job.saving_until_ns = 0;
    --step.budget;
    if (at == root) return BlockId::kNone;
    at = parent;
  }
  return BlockId::kNone;
}

// From next_slot on, as far as the budget goes. Returns the block that stays, if one does.
BlockId evict_slots(StoreState& state, Emptying& job, const Slab& slab, Step& step) {
  const std::uint32_t last = std::min(slab.slot_count(), job.next_slot + kStepSlots);
  while (job.next_slot < last && step.budget > 0 && !step.is_saving) {
    const BlockId id = slab.block(job.next_slot);
    if (id != BlockId::kNone && state.blocks[id].state != BlockState::kReady) return id;
    const BlockId stays = id != BlockId::kNone ? evict_subtree(state, job, slab, id, step) : BlockId::kNone;
    if (stays != BlockId::kNone) return stays;
    if (slab.block(job.next_slot) == BlockId::kNone) ++job.next_slot;
  }
  return BlockId::kNone;
}

}  // namespace

EmptyingEvicted emptying_evict(StoreState& state, Emptying& job) {
  Step step;
  const std::uint32_t first = job.next_slot;
  const BlockId stays = evict_slots(state, job, state.memory.slab(job.slab), step);
  const std::uint32_t evicted = kStepEvictions - step.budget;
  const std::size_t looked = evicted + (job.next_slot - first);
  return {.stays = stays,
          .is_saving = step.is_saving,
          .evicted = evicted,
          .looked = looked + (step.is_saving ? 0 : 1)};
}

}  // namespace kvtier
