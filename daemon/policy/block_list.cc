#include "daemon/policy/block_list.h"

namespace kvtier {

void BlockList::push_below(BlockId block, BlockId hotter) {
  BlockRecord& record = (*blocks_)[block];
  const BlockId colder = hotter == BlockId::kNone ? hottest_ : (*blocks_)[hotter].prev;
  record.next = hotter;
  record.prev = colder;
  (colder == BlockId::kNone ? coldest_ : (*blocks_)[colder].next) = block;
  (hotter == BlockId::kNone ? hottest_ : (*blocks_)[hotter].prev) = block;
  ++size_;
}

void BlockList::remove(BlockId block) {
  BlockRecord& record = (*blocks_)[block];
  (record.prev == BlockId::kNone ? coldest_ : (*blocks_)[record.prev].next) = record.next;
  (record.next == BlockId::kNone ? hottest_ : (*blocks_)[record.next].prev) = record.prev;
  record.prev = record.next = BlockId::kNone;
  --size_;
}

}  // namespace kvtier
