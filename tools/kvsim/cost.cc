#include "tools/kvsim/cost.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

#include "daemon/policy/prefix_tree.h"
#include "libkvclient/base/prng.h"
#include "tools/kvsim/residents.h"

namespace kvtier::sim {
namespace {

constexpr std::uint32_t kPromptBlocks = 32;
constexpr std::uint64_t kDecisions = 4'000'000;
constexpr std::uint32_t kRequestMs = 5;

class Load final : LeafListener {
 public:
  Load(const Policy& policy, std::uint32_t blocks)
      : prompts_(2 * blocks / kPromptBlocks),
        residents_(blocks, prompts_ * kPromptBlocks),
        tree_(residents_.table(), this),
        evictor_(policy.make(residents_.table())) {
    evictor_->set_capacity(blocks);
    for (std::uint32_t prompt = 0; !residents_.is_full(); ++prompt) serve(prompt % prompts_);
  }

  void run(std::uint64_t decisions) {
    decisions_ = 0;
    evict_ns_.clear();
    evict_ns_.reserve(decisions);
    while (decisions_ < decisions)
      serve(static_cast<std::uint32_t>(chance_.below(chance_.below(prompts_) + 1)));
  }
  [[nodiscard]] std::uint64_t decisions() const { return decisions_; }
  std::uint64_t evict_p99_ns() {
    if (evict_ns_.empty()) return 0;
    const auto p99 = evict_ns_.begin() + static_cast<std::ptrdiff_t>(evict_ns_.size() * 99 / 100);
    std::nth_element(evict_ns_.begin(), p99, evict_ns_.end());
    return *p99;
  }

 private:
  void serve(std::uint32_t prompt) {
    now_ms_ += kRequestMs;
    const BlockNumber first = prompt * kPromptBlocks;
    std::uint32_t hits = 0;
    while (hits < kPromptBlocks && residents_.find(first + hits) != BlockId::kNone) ++hits;
    for (std::uint32_t i = hits; i-- > 0;) evictor_->access(stamped(residents_.find(first + i)));
    BlockId parent = hits == 0 ? BlockId::kNone : residents_.find(first + hits - 1);
    for (std::uint32_t i = hits; i < kPromptBlocks; ++i) {
      if (residents_.is_full()) evict(parent);
      if (residents_.find(first + i) != BlockId::kNone)
        return;  // evicted out of order: the prompt has a hole
      const BlockId block = stamped(residents_.add(first + i));
      if (parent != BlockId::kNone) (void)tree_.attach(block, parent);
      evictor_->insert(block, parent);
      parent = block;
    }
    decisions_ += kPromptBlocks;
  }
  BlockId stamped(BlockId block) {
    residents_.table()[block].access_ms = now_ms_;
    return block;
  }
  void evict(BlockId spared) {
    const auto start = std::chrono::steady_clock::now();
    BlockId victim = evictor_->coldest();
    if (victim == spared) victim = evictor_->after(victim);
    evictor_->remember(victim);
    evictor_->remove(victim);
    tree_.detach(victim);
    const auto end = std::chrono::steady_clock::now();
    evict_ns_.push_back(static_cast<std::uint64_t>(std::chrono::nanoseconds(end - start).count()));
    residents_.remove(victim);
  }

  void became_leaf(BlockId block) override { (void)evictor_->became_leaf(block, BlockId::kNone); }

  std::uint32_t prompts_;
  Residents residents_;
  PrefixTree tree_;
  std::unique_ptr<Evictor> evictor_;
  Prng chance_{1};
  std::uint32_t now_ms_ = 0;
  std::uint64_t decisions_ = 0;
  std::vector<std::uint64_t> evict_ns_;
};

}  // namespace

DecisionCost measure_cost(const Policy& policy, std::uint32_t blocks) {
  Load load(policy, blocks);
  const std::clock_t start = std::clock();
  load.run(kDecisions);
  const double ns = static_cast<double>(std::clock() - start) * (1e9 / CLOCKS_PER_SEC);
  return {.blocks = blocks,
          .decisions = load.decisions(),
          .ns_per_decision = ns / static_cast<double>(load.decisions()),
          .evict_p99_ns = load.evict_p99_ns()};
}

}  // namespace kvtier::sim
