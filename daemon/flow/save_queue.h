#pragma once
// Write-through: committed blocks that are to be written to disk, oldest first. What left since is still in it: who pops
// looks whether the block is to be saved. Thread: the conductor.

#include <cstdint>
#include <vector>

#include "daemon/model/ids.h"

namespace kvtier {

class SaveQueue {
 public:
  SaveQueue() = default;
  explicit SaveQueue(std::uint32_t capacity) : ring_(capacity, BlockId::kNone) {}

  [[nodiscard]] bool is_empty() const { return size_ == 0; }
  /// False: full. Write-back takes the block when it is cold.
  bool push(BlockId id) {
    if (size_ == ring_.size()) return false;
    ring_[(first_ + size_++) % ring_.size()] = id;
    return true;
  }
  [[nodiscard]] BlockId front() const { return ring_[first_]; }
  void pop() {
    first_ = (first_ + 1) % ring_.size();
    --size_;
  }

 private:
  std::vector<BlockId> ring_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace kvtier
