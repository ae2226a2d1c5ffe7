#pragma once
// A trace through a policy: how many references find their block. A block is a hit only if all earlier blocks of its
// request were there when the request came.

#include <string>

#include "tools/kvsim/hint_queue.h"
#include "tools/kvsim/policies.h"
#include "tools/traces/trace.h"

namespace kvtier::sim {

struct ReplayResult {
  std::string policy;
  std::uint32_t capacity_blocks = 0;
  std::uint64_t references = 0;
  std::uint64_t hits = 0;
  double seconds = 0;  ///< of processor time
  bool is_with_hints = false;

  [[nodiscard]] double hit_ratio() const {
    return references == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(references);
  }
};

/// `percent` of the different blocks of the trace, rounded down; at least one.
std::uint32_t capacity_of(const Trace& trace, double percent);

/// `hints`: what the engines tell; of no use to a policy that is no tree.
ReplayResult replay(const Trace& trace, const Policy& policy, std::uint32_t capacity_blocks,
                    HintSet hints = {});

/// Hits of an evictor: after it is counted, each request touches its blocks last to first, and what is not there is
/// put there in place of the first candidate. Nothing is leased, and a parent may leave before its children.
std::uint64_t replay_flat(const Trace& trace, const Policy& policy, std::uint32_t capacity_blocks);

/// Hits of an evictor as the daemon has it: the blocks of a request that are there are accessed last to first, the others
/// enter first to last under their parents. A block leaves only when no child of it is there and the request does not
/// have it; when nobody can, the rest of the request does not enter. A hint comes when the answer is complete, for blocks that
/// nobody used since.
std::uint64_t replay_tree(const Trace& trace, const Policy& policy, std::uint32_t capacity_blocks,
                          HintSet hints);

/// Hits of the policy that knows the future: what is used again latest leaves, the deeper one of two, or it does not
/// enter.
std::uint64_t replay_min(const Trace& trace, std::uint32_t capacity_blocks);

}  // namespace kvtier::sim
