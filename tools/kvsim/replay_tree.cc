#include "daemon/policy/prefix_tree.h"
#include "tools/kvsim/disk_log.h"
#include "tools/kvsim/hint_queue.h"
#include "tools/kvsim/replay.h"
#include "tools/kvsim/residents.h"

namespace kvtier::sim {
namespace {

class TreeReplay final : LeafListener {
 public:
  TreeReplay(const Trace& trace, const Policy& policy, std::uint32_t capacity_blocks, HintSet hints,
             const TierOptions& tiers)
      : trace_(trace),
        hints_(trace, hints),
        residents_(capacity_blocks, trace.unique),
        tree_(residents_.table(), this),
        evictor_(policy.make(residents_.table())),
        last_requests_(trace.unique),
        tiers_(tiers),
        meter_(tiers) {
    evictor_->set_capacity(capacity_blocks);
    if (tiers.nvme_percent > 0)
      disk_.emplace(capacity_of(trace, tiers.nvme_percent), tiers.segment_blocks, trace.unique);
  }

  TreeReplayed run() {
    std::uint64_t hits = 0;
    for (const Request& request : trace_.requests) {
      while (const std::optional<HintQueue::Due> due = hints_.take(request.time_ms)) give(*due);
      ++request_;
      const std::span<const BlockNumber> blocks = trace_.blocks_of(request);
      const Found found = serve(blocks, static_cast<std::uint32_t>(request.time_ms));
      hits += found.host + found.nvme;
      if (disk_) meter_.add(blocks.size(), found);
      hints_.served(request_ - 1);
    }
    return {.hits = hits, .tiers = costs()};
  }

 private:
  Found serve(std::span<const BlockNumber> blocks, std::uint32_t now_ms) {
    for (const BlockNumber number : blocks) last_requests_[number] = request_;
    Found found;
    while (found.host < blocks.size() && residents_.find(blocks[found.host]) != BlockId::kNone) ++found.host;
    for (std::size_t i = found.host; i-- > 0;) access(residents_.find(blocks[i]), now_ms);
    BlockId parent = found.host == 0 ? BlockId::kNone : residents_.find(blocks[found.host - 1]);
    bool is_prefix = true;
    for (std::size_t i = found.host; i < blocks.size() && (!residents_.is_full() || make_room()); ++i) {
      is_prefix = is_prefix && disk_ && disk_->has(blocks[i]);
      if (is_prefix) {
        ++found.nvme;
        disk_->used(blocks[i]);
      }
      parent = insert(blocks[i], parent, now_ms);
    }
    return found;
  }

  [[nodiscard]] std::optional<TierCosts> costs() const {
    if (!disk_) return std::nullopt;
    TierCosts costs = meter_.costs();
    costs.nvme_blocks = capacity_of(trace_, tiers_.nvme_percent);
    costs.bytes_written = (disk_->puts() + disk_->moves()) * tiers_.block_bytes;
    costs.write_amplification = disk_->write_amplification();
    return costs;
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
    if (disk_) disk_->used(residents_.number_of(block));
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
    if (disk_) disk_->put(residents_.number_of(victim));
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
  const TierOptions tiers_;
  std::optional<DiskLog> disk_;
  TierMeter meter_;
};

}  // namespace

TreeReplayed replay_tree(const Trace& trace, const Policy& policy, std::uint32_t capacity_blocks,
                         HintSet hints, const TierOptions& tiers) {
  return TreeReplay(trace, policy, capacity_blocks, hints, tiers).run();
}

}  // namespace kvtier::sim
