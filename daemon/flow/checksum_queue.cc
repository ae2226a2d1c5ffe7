#include "daemon/flow/checksum_queue.h"

#include "libkvclient/base/check.h"

namespace kvtier {
namespace {

BlockId prev_of(const BlockRecord& record) {
  return BlockId{static_cast<std::uint32_t>(record.checksum)};
}
BlockId next_of(const BlockRecord& record) {
  return BlockId{static_cast<std::uint32_t>(record.checksum >> 32)};
}
void set_links(BlockRecord& record, BlockId prev, BlockId next) {
  record.checksum = index_of(prev) | std::uint64_t{index_of(next)} << 32;
}

}  // namespace

void ChecksumQueue::append(BlockTable& blocks, List& list, const List& more) {
  if (more.first == BlockId::kNone) return;
  if (list.first == BlockId::kNone) {
    list = more;
    return;
  }
  BlockRecord& last = blocks[list.last];
  BlockRecord& first = blocks[more.first];
  set_links(last, prev_of(last), more.first);
  set_links(first, list.last, next_of(first));
  list.last = more.last;
}

void ChecksumQueue::push(BlockTable& blocks, BlockId id, TimeNs now_ns) {
  BlockRecord& record = blocks[id];
  KV_CHECK((record.flags & (kBlockQueued | kBlockSummed)) == 0,
           "a block waits once, for a sum that it lacks");
  record.flags |= kBlockQueued;
  set_links(record, BlockId::kNone, BlockId::kNone);
  append(blocks, young_, {id, id});
  if (turn_at_ns_ == kNever) turn_at_ns_ = now_ns + kTurnNs;
  ++size_;
}

void ChecksumQueue::remove(BlockTable& blocks, BlockId id) {
  BlockRecord& record = blocks[id];
  const BlockId prev = prev_of(record);
  const BlockId next = next_of(record);
  if (prev != BlockId::kNone) set_links(blocks[prev], prev_of(blocks[prev]), next);
  if (next != BlockId::kNone) set_links(blocks[next], prev, next_of(blocks[next]));
  for (List* list : {&young_, &older_, &due_}) {  // an end is an end of one list
    if (list->first == id) list->first = next;
    if (list->last == id) list->last = prev;
  }
  record.flags &= static_cast<std::uint16_t>(~kBlockQueued);
  --size_;
}

void ChecksumQueue::hurry(BlockTable& blocks, BlockId id) {
  remove(blocks, id);
  BlockRecord& record = blocks[id];
  record.flags |= kBlockQueued;
  set_links(record, BlockId::kNone, BlockId::kNone);
  List first{id, id};
  append(blocks, first, due_);
  due_ = first;
  ++size_;
}

void ChecksumQueue::turn(BlockTable& blocks) {
  append(blocks, due_, older_);
  older_ = young_;
  young_ = {};
  turn_at_ns_ = older_.first == BlockId::kNone ? kNever : turn_at_ns_ + kTurnNs;
}

BlockId ChecksumQueue::pop_due(BlockTable& blocks, TimeNs now_ns) {
  while (turn_at_ns_ <= now_ns) turn(blocks);
  const BlockId id = due_.first;
  if (id != BlockId::kNone) remove(blocks, id);
  return id;
}

}  // namespace kvtier
