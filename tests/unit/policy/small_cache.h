#pragma once
// A cache of numbered keys over an evictor, as the evictors' tests drive it: what is not there takes the place of the
// first candidate.

#include <gtest/gtest.h>

#include <unordered_map>
#include <vector>

#include "daemon/model/block_table.h"
#include "daemon/policy/evictor.h"

namespace kvtier {

inline BlockTable make_block_table(std::uint32_t blocks) {
  NoFdStore fds;
  Result<BlockTable> table = BlockTable::create(blocks, fds);
  EXPECT_TRUE(table.is_ok());
  EXPECT_TRUE(table.value().reserve(blocks).is_ok());
  return std::move(table).value();
}

/// The whole order, as one pass sees it.
inline std::vector<BlockId> order_of(Evictor& evictor) {
  std::vector<BlockId> all;
  for (BlockId id = evictor.coldest(); id != BlockId::kNone && all.size() < 10000; id = evictor.after(id)) {
    all.push_back(id);
  }
  return all;
}

template <class E>
class SmallCache {
 public:
  static constexpr std::uint64_t kNobody = 0;

  explicit SmallCache(std::uint32_t capacity)
      : blocks_(make_block_table(capacity)), evictor_(blocks_, /*seed=*/7) {
    evictor_.set_capacity(capacity);
  }

  E& evictor() { return evictor_; }
  [[nodiscard]] BlockId find(std::uint64_t key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? BlockId::kNone : found->second;
  }
  [[nodiscard]] std::uint64_t key_of(BlockId id) const { return blocks_[id].key.words[0]; }

  /// The key that left for it; kNobody. Keys are not 0.
  std::uint64_t touch(std::uint64_t key) {
    if (const BlockId id = find(key); id != BlockId::kNone) {
      evictor_.access(id);
      return kNobody;
    }
    const std::uint64_t victim = blocks_.used() == blocks_.blocks_max() ? evict() : kNobody;
    const BlockId id = blocks_.allocate();
    blocks_[id].key.words[0] = key;
    places_[key] = id;
    evictor_.insert(id, BlockId::kNone);
    return victim;
  }
  /// Gone, and not for want of room.
  void invalidate(std::uint64_t key) {
    const BlockId id = find(key);
    evictor_.remove(id);
    blocks_.free(id);
    places_.erase(key);
  }

 private:
  std::uint64_t evict() {
    const BlockId id = evictor_.coldest();
    const std::uint64_t key = key_of(id);
    evictor_.remember(id);
    invalidate(key);
    return key;
  }

  BlockTable blocks_;
  E evictor_;
  std::unordered_map<std::uint64_t, BlockId> places_;
};

}  // namespace kvtier
