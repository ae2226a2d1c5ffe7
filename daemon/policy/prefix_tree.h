#pragma once
// The prefix tree: blocks under their parents, as links in the block table. Children leave before parents.
// O(1) a change; the walks are bounded by their caller. Thread: the conductor.

#include <cstdint>

#include "daemon/model/block_table.h"

namespace kvtier {

class PrefixTree {
 public:
  explicit PrefixTree(BlockTable& blocks) : blocks_(&blocks) {}

  /// Puts `child`, which has no parent, under `parent`. False (nothing done) when that would close a cycle:
  /// keys come from clients, which may claim anything. `steps_max` bounds the check, which a childless block
  /// does not need.
  bool attach(BlockId child, BlockId parent, std::uint32_t steps_max = 65536);
  /// Takes `block` out: its children, if any, become roots.
  void detach(BlockId block);

  [[nodiscard]] bool has_children(BlockId block) const {
    return (*blocks_)[block].first_child != BlockId::kNone;
  }
  /// True when every child is about to leave too (state kEvicting): the leaf-first rule while a batch is
  /// gathered.
  [[nodiscard]] bool has_only_leaving_children(BlockId block) const;
  [[nodiscard]] std::uint32_t children(BlockId block, std::uint32_t count_max) const;
  [[nodiscard]] std::uint32_t depth(BlockId block, std::uint32_t depth_max) const;

 private:
  void unlink_from_parent(BlockId block);
  BlockTable* blocks_;
};

}  // namespace kvtier
