#include <algorithm>
#include <queue>
#include <tuple>

#include "tools/kvsim/replay.h"

namespace kvtier::sim {
namespace {

constexpr std::uint32_t kNever = 0xffffffff;

// For each reference the next request that has its block.
std::vector<std::uint32_t> next_uses(const Trace& trace) {
  std::vector<std::uint32_t> next(trace.blocks.size());
  std::vector<std::uint32_t> seen(trace.unique, kNever);
  for (std::size_t request = trace.requests.size(); request-- > 0;) {
    const std::uint64_t first = trace.requests[request].first;
    for (std::uint64_t i = first; i < first + trace.requests[request].count; ++i) {
      next[i] = seen[trace.blocks[i]];
      seen[trace.blocks[i]] = static_cast<std::uint32_t>(request);
    }
  }
  return next;
}

// Later use, then deeper: a prompt's end leaves before its head.
struct Rank {
  std::uint32_t next_use = 0;
  std::uint32_t depth = 0;
  BlockNumber number = 0;
  friend bool operator<(const Rank& a, const Rank& b) {
    return std::tie(a.next_use, a.depth, a.number) < std::tie(b.next_use, b.depth, b.number);
  }
  friend bool operator==(const Rank&, const Rank&) = default;
};

class Clairvoyant {
 public:
  Clairvoyant(std::uint32_t unique, std::uint32_t capacity) : ranks_(unique), capacity_(capacity) {}

  [[nodiscard]] bool has(BlockNumber number) const { return ranks_[number].is_resident; }

  void touch(const Rank& rank) {
    Place& place = ranks_[rank.number];
    if (!place.is_resident) {
      if (rank.next_use == kNever) return;
      if (resident_ == capacity_ && !make_room(rank)) return;
      ++resident_;
    }
    place = {.rank = rank, .is_resident = true};
    order_.push(rank);
  }

 private:
  struct Place {
    Rank rank;
    bool is_resident = false;
  };

  // False: all that is there is used before `coming`. Ranks that are not their block's any more lie in the queue.
  bool make_room(const Rank& coming) {
    while (!is_current(order_.top())) order_.pop();
    if (order_.top() < coming) return false;
    ranks_[order_.top().number].is_resident = false;
    order_.pop();
    --resident_;
    return true;
  }
  [[nodiscard]] bool is_current(const Rank& rank) const {
    return ranks_[rank.number].is_resident && ranks_[rank.number].rank == rank;
  }

  std::vector<Place> ranks_;
  std::priority_queue<Rank> order_;
  std::uint32_t capacity_;
  std::uint32_t resident_ = 0;
};

}  // namespace

std::uint64_t replay_min(const Trace& trace, std::uint32_t capacity_blocks) {
  const std::vector<std::uint32_t> next = next_uses(trace);
  Clairvoyant memory(trace.unique, capacity_blocks);
  std::uint64_t hits = 0;
  for (const Request& request : trace.requests) {
    const std::span<const BlockNumber> blocks = trace.blocks_of(request);
    std::size_t prefix = 0;
    while (prefix < blocks.size() && memory.has(blocks[prefix])) ++prefix;
    hits += prefix;
    for (std::uint32_t depth = 0; depth < request.count; ++depth)
      memory.touch({next[request.first + depth], depth, blocks[depth]});
  }
  return hits;
}

}  // namespace kvtier::sim
