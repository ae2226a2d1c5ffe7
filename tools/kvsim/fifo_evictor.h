#pragma once
// First in, first out, for comparison: the daemon's LRU that nobody tells of accesses.

#include "daemon/policy/block_list.h"
#include "daemon/policy/evictor.h"

namespace kvtier::sim {

class FifoEvictor final : public Evictor {
 public:
  explicit FifoEvictor(BlockTable& blocks) : list_(blocks) {}

  void set_capacity(std::uint32_t) override {}
  void insert(BlockId block, BlockId) override { list_.push_hottest(block); }
  void access(BlockId) override {}
  void insert_coldest(BlockId block) override { list_.push_coldest(block); }
  void remember(BlockId) override {}
  void remove(BlockId block) override { list_.remove(block); }
  void defer(BlockId block) override {
    list_.remove(block);
    list_.push_hottest(block);
  }
  BlockId coldest() override { return list_.coldest(); }
  BlockId after(BlockId block) override { return list_.after(block); }
  [[nodiscard]] std::uint32_t size() const override { return list_.size(); }
  [[nodiscard]] std::string_view name() const override { return "fifo"; }

 private:
  BlockList list_;
};

}  // namespace kvtier::sim
