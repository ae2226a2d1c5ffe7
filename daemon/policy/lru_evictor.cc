#include "daemon/policy/lru_evictor.h"

namespace kvtier {

// Puts `block` just colder than `hotter`; kNone: at the hot end.
void LruEvictor::link_below(BlockId block, BlockId hotter) {
  BlockRecord& record = (*blocks_)[block];
  const BlockId colder = hotter == BlockId::kNone ? hottest_ : (*blocks_)[hotter].prev;
  record.next = hotter;
  record.prev = colder;
  (colder == BlockId::kNone ? coldest_ : (*blocks_)[colder].next) = block;
  (hotter == BlockId::kNone ? hottest_ : (*blocks_)[hotter].prev) = block;
}

void LruEvictor::unlink(BlockId block) {
  BlockRecord& record = (*blocks_)[block];
  if (mark_ == block) mark_ = record.next;
  (record.prev == BlockId::kNone ? coldest_ : (*blocks_)[record.prev].next) = record.next;
  (record.next == BlockId::kNone ? hottest_ : (*blocks_)[record.next].prev) = record.prev;
  record.prev = record.next = BlockId::kNone;
}

void LruEvictor::insert(BlockId block, BlockId parent) {
  link_below(block, parent);
  ++size_;
}

void LruEvictor::insert_coldest(BlockId block) {
  if (coldest_ == BlockId::kNone) return insert(block, BlockId::kNone);
  insert(block, coldest_);
}

void LruEvictor::access(BlockId block) {
  if (block == hottest_) return;
  unlink(block);
  link_below(block, BlockId::kNone);
}

void LruEvictor::remove(BlockId block) {
  unlink(block);
  --size_;
}

}  // namespace kvtier
