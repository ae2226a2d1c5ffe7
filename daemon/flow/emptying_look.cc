#include "daemon/flow/emptying_look.h"

namespace kvtier {
namespace {

// Pin counters, slots and links that a step looks at: some tenths of a millisecond.
constexpr std::int64_t kStepWork = 8192;

// One slab's blocks, slot by slot. Below each, depth first, the blocks that lie in other slabs; one that lies in this
// slab is not gone into, its own slot does that. So each block is looked at once, however deep the tree is.
class Look {
 public:
  Look(StoreState& state, Emptying& job)
      : state_(state),
        look_(job.look),
        slab_(state.memory.slab(job.slab)),
        pins_(1 + static_cast<std::int64_t>(state.tenants[index_of(job.tenant)].sessions.size())) {}

  EmptyingLooked run() {
    while (left_ > 0 && look_.slot < slab_.slot_count()) {
      if (const Holder holder = look_at_slot(); holder.cause != Cause::kNone) return result(true, holder);
    }
    return result(look_.slot == slab_.slot_count(), {});
  }

 private:
  [[nodiscard]] EmptyingLooked result(bool is_over, const Holder& holder) const {
    return {is_over, holder, static_cast<std::size_t>(kStepWork - left_)};
  }

  // Goes on where the last step stopped, if that block is still there; else with the slot's block again.
  Holder look_at_slot() {
    const BlockId root = slab_.block(look_.slot);
    BlockId at = is_there() ? look_.at : root;
    if (at == root) look_.is_climbing = false;
    if (at == root && root != BlockId::kNone) {
      left_ -= pins_;
      if (const Holder holder = holder_of(state_, root); holder.cause != Cause::kNone) return holder;
    }
    while (at != BlockId::kNone && left_ > 0) {
      at = next(root, at);
      if (at == BlockId::kNone || look_.is_climbing || !is_outside(at)) continue;
      left_ -= pins_;
      if (++look_.outside > kEmptyingOutsideMax) return {Cause::kTierFull, nullptr};
      if (const Holder holder = holder_of(state_, at); holder.cause != Cause::kNone) return holder;
    }
    keep_place(at);
    return {};
  }

  // One link: down, aside or up.
  BlockId next(BlockId root, BlockId at) {
    --left_;
    const bool may_enter = !look_.is_climbing && (at == root || is_outside(at));
    const BlockId child = may_enter ? state_.tree->first_host_child(at) : BlockId::kNone;
    if (child != BlockId::kNone) return child;
    if (at == root) return BlockId::kNone;
    const BlockId sibling = state_.tree->next_host_sibling(at);
    look_.is_climbing = sibling == BlockId::kNone;
    const BlockId to = look_.is_climbing ? state_.blocks[at].parent : sibling;
    return look_.is_climbing && to == root ? BlockId::kNone : to;
  }

  void keep_place(BlockId at) {
    --left_;
    look_.at = at;
    if (at == BlockId::kNone) {
      ++look_.slot;
      return;
    }
    look_.at_slot = state_.blocks[at].slot;
    look_.at_generation = state_.blocks[at].generation;
  }

  [[nodiscard]] bool is_there() const {
    if (look_.at == BlockId::kNone) return false;
    const BlockRecord& record = state_.blocks[look_.at];
    return record.state == BlockState::kReady && record.slot == look_.at_slot &&
           record.generation == look_.at_generation;
  }
  [[nodiscard]] bool is_outside(BlockId id) const {
    return state_.blocks[id].slot.slab() != index_of(slab_.index());
  }

  StoreState& state_;
  EmptyingLook& look_;
  const Slab& slab_;
  const std::int64_t pins_;  // what a look at one block costs: a counter of each session
  std::int64_t left_ = kStepWork;
};

}  // namespace

EmptyingLooked emptying_look(StoreState& state, Emptying& job) {
  return Look(state, job).run();
}

}  // namespace kvtier
