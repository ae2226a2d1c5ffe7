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
  BlockRecord& record = blocks[child];
  record.parent = parent;
  record.prev_sibling = BlockId::kNone;
  record.next_sibling = blocks[parent].first_child;
  if (record.next_sibling != BlockId::kNone) blocks[record.next_sibling].prev_sibling = child;
  blocks[parent].first_child = child;
  return true;
}

void PrefixTree::unlink_from_parent(BlockId block) {
  BlockTable& blocks = *blocks_;
  BlockRecord& record = blocks[block];
  if (record.parent == BlockId::kNone) return;
  if (record.prev_sibling != BlockId::kNone) {
    blocks[record.prev_sibling].next_sibling = record.next_sibling;
  } else {
    blocks[record.parent].first_child = record.next_sibling;
  }
  if (record.next_sibling != BlockId::kNone) blocks[record.next_sibling].prev_sibling = record.prev_sibling;
  record.parent = record.next_sibling = record.prev_sibling = BlockId::kNone;
}

void PrefixTree::detach(BlockId block) {
  BlockTable& blocks = *blocks_;
  unlink_from_parent(block);
  while (blocks[block].first_child != BlockId::kNone) unlink_from_parent(blocks[block].first_child);
}

bool PrefixTree::has_only_leaving_children(BlockId block) const {
  const BlockTable& blocks = *blocks_;
  for (BlockId child = blocks[block].first_child; child != BlockId::kNone;
       child = blocks[child].next_sibling) {
    if (blocks[child].state != BlockState::kEvicting) return false;
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
