#include "tools/kvsim/replay.h"

#include <algorithm>
#include <ctime>

namespace kvtier::sim {
namespace {

std::uint64_t hits_of(const Trace& trace, const Policy& policy, std::uint32_t capacity_blocks,
                      HintSet hints) {
  if (policy.make == nullptr) return replay_min(trace, capacity_blocks);
  if (policy.is_tree) return replay_tree(trace, policy, capacity_blocks, hints);
  return replay_flat(trace, policy, capacity_blocks);
}

}  // namespace

std::uint32_t capacity_of(const Trace& trace, double percent) {
  return std::max(1U, static_cast<std::uint32_t>(static_cast<double>(trace.unique) * percent / 100));
}

ReplayResult replay(const Trace& trace, const Policy& policy, std::uint32_t capacity_blocks, HintSet hints) {
  const std::clock_t start = std::clock();
  ReplayResult result{.policy = std::string(policy.name),
                      .capacity_blocks = capacity_blocks,
                      .references = trace.blocks.size(),
                      .is_with_hints = policy.is_tree && !hints.is_empty()};
  result.hits = hits_of(trace, policy, capacity_blocks, hints);
  result.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return result;
}

}  // namespace kvtier::sim
