#pragma once
// A doubly linked list through BlockRecord::prev (colder) and ::next (hotter): what evictors are made of. O(1) a call.
// A block is on one list at most; the lists of one evictor share the links.

#include "daemon/model/block_table.h"

namespace kvtier {

class BlockList {
 public:
  explicit BlockList(BlockTable& blocks) : blocks_(&blocks) {}

  void push_hottest(BlockId block) { push_below(block, BlockId::kNone); }
  void push_coldest(BlockId block) { push_below(block, coldest_); }
  /// Just colder than `hotter`, which is on this list; kNone: at the hot end.
  void push_below(BlockId block, BlockId hotter);
  void remove(BlockId block);

  [[nodiscard]] BlockId coldest() const { return coldest_; }
  [[nodiscard]] BlockId hottest() const { return hottest_; }
  /// The next hotter one; kNone at the end.
  [[nodiscard]] BlockId after(BlockId block) const { return (*blocks_)[block].next; }
  [[nodiscard]] std::uint32_t size() const { return size_; }

 private:
  BlockTable* blocks_;
  BlockId coldest_ = BlockId::kNone;
  BlockId hottest_ = BlockId::kNone;
  std::uint32_t size_ = 0;
};

}  // namespace kvtier
