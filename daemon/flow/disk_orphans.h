#pragma once
// Recovered cold blocks whose parent was not there when they came: found again when it comes. A hash table of lists
// through the blocks' own records: a cold block has no slot and no checksum of memory, so BlockRecord::slot holds the next
// one of the list and BlockRecord::checksum the hash of the parent's name. Memory taken at start. Thread: the conductor.

#include <cstdint>
#include <vector>

#include "daemon/model/block_table.h"

namespace kvtier {

class DiskOrphans {
 public:
  DiskOrphans(std::uint32_t blocks_max, std::uint64_t seed);

  [[nodiscard]] std::uint32_t size() const { return size_; }
  /// A cold block without a parent, which was not summed. Marks it kBlockOrphan.
  void add(BlockTable& blocks, BlockId id, const Key& parent);
  /// It leaves, or has a parent, or a slot.
  void remove(BlockTable& blocks, BlockId id);
  /// One whose parent this block is, taken off; kNone: there is none (any more).
  BlockId take_child_of(BlockTable& blocks, BlockId parent);

 private:
  [[nodiscard]] std::uint64_t hash(const BlockRecord& scope, const Key& parent) const;
  BlockId& bucket_of(std::uint64_t hash) { return buckets_[hash & (buckets_.size() - 1)]; }

  const std::uint64_t seed_;
  std::uint32_t size_ = 0;
  std::vector<BlockId> buckets_;
};

}  // namespace kvtier
