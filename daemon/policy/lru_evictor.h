#pragma once
// Least recently used: one doubly linked list through BlockRecord::prev (colder) and ::next (hotter). O(1) a
// call.

#include "daemon/model/block_table.h"
#include "daemon/policy/evictor.h"

namespace kvtier {

class LruEvictor final : public Evictor {
 public:
  explicit LruEvictor(BlockTable& blocks) : blocks_(&blocks) {}

  void insert(BlockId block, BlockId parent) override;
  void access(BlockId block) override;
  void insert_coldest(BlockId block) override;
  void remove(BlockId block) override;
  void defer(BlockId block) override { access(block); }
  [[nodiscard]] BlockId coldest() const override { return coldest_; }
  [[nodiscard]] BlockId after(BlockId block) const override { return (*blocks_)[block].next; }
  void set_mark(BlockId block) override { mark_ = block; }
  [[nodiscard]] BlockId mark() const override { return mark_; }
  [[nodiscard]] std::uint32_t size() const override { return size_; }
  [[nodiscard]] std::string_view name() const override { return "lru"; }

 private:
  void link_below(BlockId block, BlockId hotter);
  void unlink(BlockId block);

  BlockTable* blocks_;
  BlockId coldest_ = BlockId::kNone;
  BlockId hottest_ = BlockId::kNone;
  BlockId mark_ = BlockId::kNone;
  std::uint32_t size_ = 0;
};

}  // namespace kvtier
