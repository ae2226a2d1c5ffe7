#include "daemon/flow/doubts.h"

#include "daemon/flow/cool.h"
#include "daemon/flow/demote.h"
#include "daemon/flow/directory_growth.h"
#include "daemon/flow/disk_send.h"
#include "daemon/flow/records.h"
#include "daemon/flow/unpublish.h"
#include "daemon/flow/wait.h"

namespace kvtier {
namespace {

bool push(StoreState& state, BlockId id, bool is_restored) {
  if (state.doubts.size() == kDoubtsWaitingMax) return false;
  BlockRecord& record = state.blocks[id];
  record.flags |= kBlockSuspect;
  state.doubts.push_back({.block = id, .generation = record.generation, .is_restored = is_restored});
  return true;
}

// A record of its own for the copy of a block whose slot somebody may still read: name, place in the tree and copy are its.
// kNone: there is no copy, or no record.
BlockId take_copy(StoreState& state, BlockId id) {
  if ((state.blocks[id].flags & kBlockOnDisk) == 0) return BlockId::kNone;
  const BlockId copy = record_take(state, BlockState::kCold);
  if (copy == BlockId::kNone) return copy;
  BlockRecord& from = state.blocks[id];
  BlockRecord& to = state.blocks[copy];
  to.key = from.key;
  to.space = from.space;
  to.tenant = from.tenant;
  to.checksum = from.checksum;
  to.access_ms = from.access_ms;
  to.hits = from.hits;
  to.flags = kBlockSummed | kBlockOnDisk | kBlockSuspect | (from.flags & kBlockUsed);
  from.flags &= static_cast<std::uint16_t>(~kBlockOnDisk);
  state.disk->locators[index_of(copy)] = state.disk->locators[index_of(id)];
  state.disk->locators[index_of(id)] = {};
  state.tree->move_children(id, copy);
  if (from.parent != BlockId::kNone) (void)state.tree->attach(copy, from.parent);
  ++state.space_of(to).blocks;
  return copy;
}

bool make_known(StoreState& state, BlockId copy) {
  const BlockRecord& record = state.blocks[copy];
  Tenant& tenant = state.tenants[record.tenant];
  if (state.index->insert(tenant.id, record.space, record.key, copy) != Code::kOk) return false;
  if (directory_insert(state, tenant, {record.space, record.key, directory_cold()}) == Code::kOk) return true;
  state.index->erase(tenant.id, record.space, record.key);
  return false;
}

// The place of the damaged block in index and directory, which has just become free.
void publish_copy(StoreState& state, BlockId copy) {
  if (make_known(state, copy)) return cold_list(state, copy);
  state.tree->detach(copy);
  disk_detach(state, copy);
  record_free(state, copy);
}

void note(StoreState& state, const BlockRecord& record) {
  const Tenant& tenant = state.tenants[record.tenant];
  ++state.stats.checksum_failures;
  ++state.stats.blocks_corrupt;
  state.corrupt = {.count = state.stats.blocks_corrupt,
                   .namespace_name = tenant.name,
                   .space = state.space_of(record).digest,
                   .key = record.key};
}

}  // namespace

bool doubt_add(StoreState& state, BlockId id) {
  if ((state.blocks[id].flags & kBlockSuspect) != 0) return true;
  if (!push(state, id, false)) return false;
  ++state.stats.blocks_doubted;
  return true;
}

void doubt_restored(StoreState& state, BlockId id) {
  state.blocks[id].flags &= static_cast<std::uint16_t>(~kBlockSuspect);
  (void)push(state, id, true);  // no room: the next reader who verifies it finds out
}

Doubt doubts_next(StoreState& state) {
  while (!state.doubts.empty()) {
    const Doubt doubt = state.doubts.back();
    state.doubts.pop_back();
    const BlockRecord& record = state.blocks[doubt.block];
    // Not after it left, or was restored meanwhile, which is a doubt of its own.
    const bool is_it = record.state == BlockState::kReady && record.generation == doubt.generation &&
                       (record.flags & kBlockSuspect) != 0 && (record.flags & kBlockBusy) == 0;
    if (is_it) return doubt;
  }
  return {};
}

void doubt_judge(StoreState& state, const ChecksumJob& job, bool is_right) {
  BlockRecord& record = state.blocks[job.block];
  record.flags &= static_cast<std::uint16_t>(~kBlockSuspect);
  if (record.state != BlockState::kReady) return;  // it left meanwhile
  if (is_right) {
    demote_committed(state, job.block);
    return waits_resolve(state, job.block, true);
  }
  note(state, record);
  const BlockId copy = job.is_restored ? BlockId::kNone : take_copy(state, job.block);
  block_drop(state, job.block);
  if (copy != BlockId::kNone) publish_copy(state, copy);
}

}  // namespace kvtier
