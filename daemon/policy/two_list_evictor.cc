#include "daemon/policy/two_list_evictor.h"

namespace kvtier {

TwoListEvictor::TwoListEvictor(BlockTable& blocks)
    : blocks_(&blocks),
      lists_{BlockList(blocks), BlockList(blocks)},
      where_(make_zeroed<Which>(blocks.blocks_max())) {}

void TwoListEvictor::push(BlockId block, Which which, BlockId parent) {
  const bool is_below = parent != BlockId::kNone && where_[index_of(parent)] == which;
  lists_[which].push_below(block, is_below ? parent : BlockId::kNone);
  where_[index_of(block)] = which;
}

void TwoListEvictor::insert_coldest(BlockId block) {
  lists_[kOnce].push_coldest(block);
  where_[index_of(block)] = kOnce;
}

void TwoListEvictor::remove(BlockId block) {
  BlockList& from = lists_[which(block)];
  if (mark() == block) {
    const BlockId next = from.after(block);
    set_mark(next == BlockId::kNone && which(block) == first_ ? lists_[1 - first_].coldest() : next);
  }
  from.remove(block);
}

void TwoListEvictor::move_to_hottest(BlockId block, Which to) {
  remove(block);
  push(block, to);
}

void TwoListEvictor::defer(BlockId block) {
  move_to_hottest(block, first_ == kOnce ? kProven : kOnce);
}

BlockId TwoListEvictor::first_or_other(BlockId of_first) {
  if (of_first != BlockId::kNone) return of_first;
  const Which other = first_ == kOnce ? kProven : kOnce;
  return skip_saved(lists_[other].coldest(), other);
}

BlockId TwoListEvictor::coldest() {
  first_ = first_list();
  return first_or_other(skip_saved(lists_[first_].coldest(), first_));
}

BlockId TwoListEvictor::after(BlockId block) {
  const Which on = which(block);
  const BlockId next = skip_saved(lists_[on].after(block), on);
  return on == first_ ? first_or_other(next) : next;
}

}  // namespace kvtier
