#pragma once
// Least recently used: one list. O(1) a call.

#include "daemon/policy/block_list.h"
#include "daemon/policy/evictor.h"

namespace kvtier {

class LruEvictor final : public Evictor {
 public:
  explicit LruEvictor(BlockTable& blocks) : list_(blocks) {}

  void set_capacity(std::uint32_t) override {}
  void insert(BlockId block, BlockId parent) override { list_.push_below(block, parent); }
  void access(BlockId block) override;
  void insert_coldest(BlockId block) override { list_.push_coldest(block); }
  void remember(BlockId) override {}
  void remove(BlockId block) override;
  void defer(BlockId block) override { access(block); }
  BlockId coldest() override { return list_.coldest(); }
  BlockId after(BlockId block) override { return list_.after(block); }
  [[nodiscard]] std::uint32_t size() const override { return list_.size(); }
  [[nodiscard]] std::string_view name() const override { return "lru"; }

 private:
  BlockList list_;
};

}  // namespace kvtier
