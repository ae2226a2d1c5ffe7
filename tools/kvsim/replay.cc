#include "tools/kvsim/replay.h"

#include <algorithm>
#include <ctime>

namespace kvtier::sim {
std::uint32_t capacity_of(const Trace& trace, double percent) {
  return std::max(1U, static_cast<std::uint32_t>(static_cast<double>(trace.unique) * percent / 100));
}

ReplayResult replay(const Trace& trace, const Policy& policy, std::uint32_t capacity_blocks, HintSet hints,
                    const TierOptions& tiers) {
  const std::clock_t start = std::clock();
  ReplayResult result{.policy = std::string(policy.name),
                      .capacity_blocks = capacity_blocks,
                      .references = trace.blocks.size(),
                      .is_with_hints = policy.is_tree && !hints.is_empty()};
  if (policy.is_tree) {
    const TreeReplayed replayed = replay_tree(trace, policy, capacity_blocks, hints, tiers);
    result.hits = replayed.hits;
    result.tiers = replayed.tiers;
  } else {
    result.hits = policy.make == nullptr ? replay_min(trace, capacity_blocks)
                                         : replay_flat(trace, policy, capacity_blocks);
  }
  result.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return result;
}

}  // namespace kvtier::sim
