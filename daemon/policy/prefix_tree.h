#pragma once
// The prefix tree: blocks under their parents, as links in the block table. Children leave memory before parents.
// O(1) a change; the walks are bounded by their caller. Thread: the conductor.
//
// Children that are cold (on disk only) stand behind those that are in host memory, so that the leaf-first rule looks at
// the latter alone. The first child's prev_sibling is the last one.

#include <cstdint>

#include "daemon/model/block_table.h"

namespace kvtier {

/// Who is told of parents that have no child in host memory any more.
class LeafListener {
 public:
  LeafListener() = default;
  LeafListener(const LeafListener&) = delete;
  LeafListener& operator=(const LeafListener&) = delete;
  virtual void became_leaf(BlockId block) = 0;

 protected:
  ~LeafListener() = default;
};

class PrefixTree {
 public:
  explicit PrefixTree(BlockTable& blocks, LeafListener* listener = nullptr)
      : blocks_(&blocks), listener_(listener) {}

  /// Puts `child`, which has no parent, under `parent`. False (nothing done) when that would close a cycle:
  /// keys come from clients, which may claim anything. `steps_max` bounds the check, which a childless block
  /// does not need.
  bool attach(BlockId child, BlockId parent, std::uint32_t steps_max = 65536);
  /// Takes `block` out: its children, if any, become roots.
  void detach(BlockId block);
  /// `block` became cold, or is not cold any more: its place among its siblings is another one.
  void settle(BlockId block);
  /// The children of `from`, which has no other life from here on, become those of `to`.
  void move_children(BlockId from, BlockId to);

  [[nodiscard]] bool has_children(BlockId block) const {
    return (*blocks_)[block].first_child != BlockId::kNone;
  }
  /// In host memory, or about to be.
  [[nodiscard]] BlockId first_host_child(BlockId block) const {
    return host_or_none((*blocks_)[block].first_child);
  }
  [[nodiscard]] BlockId next_host_sibling(BlockId block) const {
    return host_or_none((*blocks_)[block].next_sibling);
  }
  [[nodiscard]] bool has_host_children(BlockId block) const {
    return first_host_child(block) != BlockId::kNone;
  }
  /// On disk only.
  [[nodiscard]] bool has_cold_children(BlockId block) const {
    const BlockId first = (*blocks_)[block].first_child;
    return first != BlockId::kNone && is_cold((*blocks_)[first].prev_sibling);
  }
  /// True when every child in host memory is about to leave too (state kEvicting): the leaf-first rule while a batch
  /// is gathered.
  [[nodiscard]] bool has_only_leaving_children(BlockId block) const;
  [[nodiscard]] std::uint32_t children(BlockId block, std::uint32_t count_max) const;
  [[nodiscard]] std::uint32_t depth(BlockId block, std::uint32_t depth_max) const;

 private:
  [[nodiscard]] bool is_cold(BlockId block) const { return (*blocks_)[block].state == BlockState::kCold; }
  [[nodiscard]] BlockId host_or_none(BlockId block) const {
    return block != BlockId::kNone && is_cold(block) ? BlockId::kNone : block;
  }
  void link_below(BlockId parent, BlockId block);
  void unlink_from_parent(BlockId block);
  void tell_of(BlockId parent);

  BlockTable* blocks_;
  LeafListener* listener_;
};

}  // namespace kvtier
