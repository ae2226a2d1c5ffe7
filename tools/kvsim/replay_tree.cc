#include "daemon/policy/prefix_tree.h"
#include "tools/kvsim/hint_queue.h"
#include "tools/kvsim/replay.h"
#include "tools/kvsim/residents.h"

namespace kvtier::sim {
namespace {

class TreeReplay final : LeafListener {
 public:
  TreeReplay(const Trace& trace, const Policy& policy, std::uint32_t capacity_blocks, HintSet hints)
      : trace_(trace),
        hints_(trace, hints),
        residents_(capacity_blocks, trace.unique),
        tree_(residents_.table(), this),
        evictor_(policy.make(residents_.table())),
        last_requests_(trace.unique) {
    evictor_->set_capacity(capacity_blocks);
  }

  std::uint64_t run() {
    std::uint64_t hits = 0;
    for (const Request& request : trace_.requests) {
      while (const std::optional<HintQueue::Due> due = hints_.take(request.time_ms)) give(*due);
      ++request_;
      hits += serve(trace_.blocks_of(request), static_cast<std::uint32_t>(request.time_ms));
      hints_.served(request_ - 1);
    }
    return hits;
  }

 private:
  std::size_t serve(std::span<const BlockNumber> blocks, std::uint32_t now_ms) {
    for (const BlockNumber number : blocks) last_requests_[number] = request_;
    std::size_t hits = 0;
    while (hits < blocks.size() && residents_.find(blocks[hits]) != BlockId::kNone) ++hits;
    for (std::size_t i = hits; i-- > 0;) access(residents_.find(blocks[i]), now_ms);
    BlockId parent = hits == 0 ? BlockId::kNone : residents_.find(blocks[hits - 1]);
    for (std::size_t i = hits; i < blocks.size() && (!residents_.is_full() || make_room()); ++i)
      parent = insert(blocks[i], parent, now_ms);
    return hits;
  }

  // Of blocks that nobody used since.
  void give(const HintQueue::Due& due) {
    const UseHint hint = hint_of(trace_.requests[due.request]);
    for (const HintQueue::Place place : hints_.concerned(due.request)) {
      const auto blocks = trace_.blocks_of(trace_.requests[place]);
      for (std::size_t i = blocks.size(); i-- > 0;) {
        const BlockId block = residents_.find(blocks[i]);
        if (block == BlockId::kNone || last_requests_[blocks[i]] != place + 1) continue;
        evictor_->hint(block, hint, static_cast<std::uint32_t>(due.time_ms));
      }
    }
  }

  void became_leaf(BlockId block) override { (void)evictor_->became_leaf(block, BlockId::kNone); }

  void access(BlockId block, std::uint32_t now_ms) {
    residents_.table()[block].access_ms = now_ms;
    evictor_->access(block);
  }

  BlockId insert(BlockNumber number, BlockId parent, std::uint32_t now_ms) {
    const BlockId block = residents_.add(number);
    residents_.table()[block].access_ms = now_ms;
    if (parent != BlockId::kNone) KV_CHECK(tree_.attach(block, parent), "a new block has no children");
    evictor_->insert(block, parent);
    return block;
  }

  bool make_room() {
    BlockId victim = evictor_->coldest();
    while (victim != BlockId::kNone && !may_leave(victim)) victim = evictor_->after(victim);
    if (victim == BlockId::kNone) return false;
    evictor_->remember(victim);
    evictor_->remove(victim);
    tree_.detach(victim);
    residents_.remove(victim);
    return true;
  }
  [[nodiscard]] bool may_leave(BlockId block) const {
    return !tree_.has_children(block) && last_requests_[residents_.number_of(block)] != request_;
  }

  const Trace& trace_;
  HintQueue hints_;
  Residents residents_;
  PrefixTree tree_;
  std::unique_ptr<Evictor> evictor_;
  std::vector<std::uint32_t> last_requests_;  // by block number: the last one that has it, counted from 1
  std::uint32_t request_ = 0;
};

}  // namespace

std::uint64_t replay_tree(const Trace& trace, const Policy& policy, std::uint32_t capacity_blocks,
                          HintSet hints) {
  return TreeReplay(trace, policy, capacity_blocks, hints).run();
}

}  // namespace kvtier::sim
