#pragma once
// A trace through a policy: how many references find their block. A block is a hit only if all earlier blocks of its
// request were there when the request came.

#include <optional>
#include <string>

#include "tools/kvsim/hint_queue.h"
#include "tools/kvsim/policies.h"
#include "tools/kvsim/tiers.h"
#include "tools/traces/trace.h"

namespace kvtier::sim {

struct ReplayResult {
  std::string policy;
  std::uint32_t capacity_blocks = 0;
  std::uint64_t references = 0;
  std::uint64_t hits = 0;
  double seconds = 0;  ///< of processor time
  bool is_with_hints = false;
  std::optional<TierCosts> tiers;  ///< hits are those of both then

  [[nodiscard]] double hit_ratio() const {
    return references == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(references);
  }
};

/// `percent` of the different blocks of the trace, rounded down; at least one.
std::uint32_t capacity_of(const Trace& trace, double percent);

/// `hints`, what the engines tell, and an NVMe tier: for a policy that is a tree alone.
ReplayResult replay(const Trace& trace, const Policy& policy, std::uint32_t capacity_blocks,
                    HintSet hints = {}, const TierOptions& tiers = {});

/// Hits of an evictor: after it is counted, each request touches its blocks last to first, and what is not there is
/// put there in place of the first candidate. Nothing is leased, and a parent may leave before its children.
std::uint64_t replay_flat(const Trace& trace, const Policy& policy, std::uint32_t capacity_blocks);

/// Hits of an evictor as the daemon has it: the blocks of a request that are there are accessed last to first, the others
/// enter first to last under their parents. A block leaves only when no child of it is there and the request does not
/// have it; when nobody can, the rest of the request does not enter. A hint comes when the answer is complete, for blocks that
/// nobody used since. With an NVMe tier a block that leaves is written there, if it is not there yet, and what stands there
/// behind the prefix in memory is read back.
struct TreeReplayed {
  std::uint64_t hits = 0;
  std::optional<TierCosts> tiers;
};
TreeReplayed replay_tree(const Trace& trace, const Policy& policy, std::uint32_t capacity_blocks,
                         HintSet hints, const TierOptions& tiers);

/// Hits of the policy that knows the future: what is used again latest leaves, the deeper one of two, or it does not
/// enter.
std::uint64_t replay_min(const Trace& trace, std::uint32_t capacity_blocks);

}  // namespace kvtier::sim
