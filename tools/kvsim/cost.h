#pragma once
// What a policy costs: real time of its decisions with many blocks.

#include <cstdint>

#include "tools/kvsim/policies.h"

namespace kvtier::sim {

struct DecisionCost {
  std::uint32_t blocks = 0;
  std::uint64_t decisions = 0;     ///< accesses, and evictions with the insert that they are for
  double ns_per_decision = 0;      ///< processor time of all of them, over their number
  std::uint64_t evict_p99_ns = 0;  ///< of the victim's choice and removal
};

/// Prompts of 32 blocks, half of them seen before, in a full memory of `blocks`.
DecisionCost measure_cost(const Policy& policy, std::uint32_t blocks);

}  // namespace kvtier::sim
