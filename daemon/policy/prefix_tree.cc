#include "daemon/policy/prefix_tree.h"

namespace kvtier {

bool PrefixTree::attach(BlockId child, BlockId parent, std::uint32_t steps_max) {
  BlockTable& blocks = *blocks_;
  KV_CHECK(blocks[child].parent == BlockId::kNone, "a block has one parent");
  if (child == parent) return false;
  if (has_children(child)) {
    BlockId up = parent;
    for (std::uint32_t step = 0; up != BlockId::kNone; up = blocks[up].parent) {
      if (up == child || ++step > steps_max) return false;
    }
  }
  link_below(parent, child);
  return true;
}

// A cold one becomes the last child, any other the first.
void PrefixTree::link_below(BlockId parent, BlockId block) {
  BlockTable& blocks = *blocks_;
  BlockRecord& record = blocks[block];
  const BlockId first = blocks[parent].first_child;
  record.parent = parent;
  if (first == BlockId::kNone) {
    record.next_sibling = BlockId::kNone;
    record.prev_sibling = block;
    blocks[parent].first_child = block;
    return;
  }
  const BlockId last = blocks[first].prev_sibling;
  record.prev_sibling = last;
  blocks[first].prev_sibling = block;
  if (is_cold(block)) {
    record.next_sibling = BlockId::kNone;
    blocks[last].next_sibling = block;
  } else {
    record.next_sibling = first;
    blocks[parent].first_child = block;
  }
}

void PrefixTree::unlink_from_parent(BlockId block) {
  BlockTable& blocks = *blocks_;
  BlockRecord& record = blocks[block];
  if (record.parent == BlockId::kNone) return;
  const BlockId first = blocks[record.parent].first_child;
  const BlockId next = record.next_sibling;
  if (first == block) {
    blocks[record.parent].first_child = next;
  } else {
    blocks[record.prev_sibling].next_sibling = next;
  }
  if (next != BlockId::kNone) {
    blocks[next].prev_sibling = record.prev_sibling;
  } else if (first != block) {
    blocks[first].prev_sibling = record.prev_sibling;
  }
  record.parent = record.next_sibling = record.prev_sibling = BlockId::kNone;
}

void PrefixTree::tell_of(BlockId parent) {
  if (listener_ != nullptr && parent != BlockId::kNone && !has_host_children(parent))
    listener_->became_leaf(parent);
}

void PrefixTree::detach(BlockId block) {
  BlockTable& blocks = *blocks_;
  const BlockId parent = blocks[block].parent;
  unlink_from_parent(block);
  tell_of(parent);
  while (blocks[block].first_child != BlockId::kNone) unlink_from_parent(blocks[block].first_child);
}

void PrefixTree::settle(BlockId block) {
  const BlockId parent = (*blocks_)[block].parent;
  if (parent == BlockId::kNone) return;
  unlink_from_parent(block);
  link_below(parent, block);
  tell_of(parent);
}

void PrefixTree::move_children(BlockId from, BlockId to) {
  while ((*blocks_)[from].first_child != BlockId::kNone) {
    const BlockId child = (*blocks_)[from].first_child;
    unlink_from_parent(child);
    (void)attach(child, to);
  }
}

bool PrefixTree::has_only_leaving_children(BlockId block) const {
  const BlockTable& blocks = *blocks_;
  for (BlockId child = blocks[block].first_child; child != BlockId::kNone;
       child = blocks[child].next_sibling) {
    const BlockState state = blocks[child].state;
    if (state == BlockState::kCold) return true;  // so are those behind it
    if (state != BlockState::kEvicting) return false;
  }
  return true;
}

std::uint32_t PrefixTree::children(BlockId block, std::uint32_t count_max) const {
  std::uint32_t count = 0;
  for (BlockId child = (*blocks_)[block].first_child; child != BlockId::kNone && count < count_max;
       child = (*blocks_)[child].next_sibling) {
    ++count;
  }
  return count;
}

std::uint32_t PrefixTree::depth(BlockId block, std::uint32_t depth_max) const {
  std::uint32_t depth = 0;
  for (BlockId up = (*blocks_)[block].parent; up != BlockId::kNone && depth < depth_max;
       up = (*blocks_)[up].parent) {
    ++depth;
  }
  return depth;
}

}  // namespace kvtier
