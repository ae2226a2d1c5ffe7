// Gets of restores: sent within bounds, and what comes of them.
#include <algorithm>

#include "daemon/flow/checksums.h"
#include "daemon/flow/cool.h"
#include "daemon/flow/demote.h"
#include "daemon/flow/directory_growth.h"
#include "daemon/flow/disk_send.h"
#include "daemon/flow/doubts.h"
#include "daemon/flow/records.h"
#include "daemon/flow/restore.h"
#include "daemon/flow/slots.h"
#include "daemon/flow/unpublish.h"
#include "daemon/flow/wait.h"

namespace kvtier {
namespace {

// Gets that are not answered yet, and the bytes of their slots: one at least.
constexpr std::uint32_t kGetsOpenMax = 512;
constexpr std::uint64_t kGetBytesMax = std::uint64_t{256} << 20;

// Nobody writes there any more: free. The block that it was taken for has it no longer.
void give_slot_back(StoreState& state, std::uint32_t number) {
  Restore& restore = state.disk->restores[number];
  slots_return(state, {.slot = restore.slot, .generation = 0});
  state.disk->restores.free(number);
}

bool may_open(const StoreState& state, std::uint64_t bytes, std::size_t count) {
  const RestoreTable& restores = state.disk->restores;
  const bool is_first = restores.gets_open == 0 && count == 0;
  return restores.gets_open + count < kGetsOpenMax && disk_has_room(state, count + 1) &&
         (is_first || restores.get_bytes + (count + 1) * bytes <= kGetBytesMax);
}

// The block, or its copy, left since.
bool is_void(StoreState& state, Restore& restore) {
  const BlockId id = restore.block;
  if (id == BlockId::kNone) return true;
  if ((state.blocks[id].flags & kBlockOnDisk) != 0) return false;
  ++state.stats.restores_failed;
  restore_drop(state, id);
  return true;
}

// Those of the first group that may go now. What left since gives its slot back.
std::size_t gather(StoreState& state, std::span<std::uint32_t> numbers) {
  RestoreTable& restores = state.disk->restores;
  std::size_t count = 0;
  std::uint64_t group = 0;
  while (restores.unsent() != RestoreTable::kNone && count < numbers.size()) {
    const std::uint32_t number = restores.unsent();
    Restore& restore = restores[number];
    if (is_void(state, restore)) {
      restores.pop_unsent();
      give_slot_back(state, number);
      continue;
    }
    if (count > 0 && restore.group != group) break;
    if (!may_open(state, state.slab_of(restore.slot).slot_bytes(), count)) break;
    group = restore.group;
    restores.pop_unsent();
    numbers[count++] = number;
  }
  return count;
}

void send(StoreState& state, std::uint32_t number, bool is_group_end) {
  RestoreTable& restores = state.disk->restores;
  Restore& restore = restores[number];
  const Slab& slab = state.slab_of(restore.slot);
  DiskCommand command = disk_command_of(state, restore.block, DiskCommandKind::kGet);
  command.is_group_end = is_group_end;
  command.tag = make_tag(DiskTag::kGet, number);
  command.slab = slab.index();
  command.data = slab.payload(restore.slot.slot());
  command.locator = restore.locator = state.disk->locators[index_of(restore.block)];  // it may have moved
  command.deadline_ns = restore.deadline_ns;
  disk_send(state, command);
  ++restores.gets_open;
  restores.get_bytes += slab.slot_bytes();
}

void publish(StoreState& state, BlockId id) {
  BlockRecord& record = state.blocks[id];
  Tenant& tenant = state.tenants[record.tenant];
  const Space& space = state.space_of(record);
  Slab& slab = state.slab_of(record.slot);
  record.next = BlockId::kNone;
  --slab.writing_count;
  KV_CHECK(slab.table().publish(record.slot.slot(), record.generation),
           "a block being read has a writing slot");
  state.blocks.set_state(id, BlockState::kReady);
  (void)tenant.directory.update(record.space, record.key, directory_residency(record));
  order_insert(state, id);
  ++state.stats.blocks_ready;
  ++tenant.blocks_ready;
  state.stats.restored_bytes += space.block_bytes;
  if ((record.flags & kBlockSummed) == 0) checksum_schedule(state, id);
  if ((record.flags & kBlockSuspect) != 0) doubt_restored(state, id);
  demote_is_due(state, tenant, space.slot_class);
  waits_resolve(state, id, true);
}

// Without its slot, which is the caller's.
void leave_slot(StoreState& state, BlockId id) {
  BlockRecord& record = state.blocks[id];
  record.next = BlockId::kNone;
  state.slab_of(record.slot).set_block(record.slot.slot(), BlockId::kNone);
  --state.stats.blocks_restoring;
}

void cool_again(StoreState& state, BlockId id) {
  BlockRecord& record = state.blocks[id];
  Tenant& tenant = state.tenants[record.tenant];
  (void)tenant.directory.update(record.space, record.key, directory_cold());
  leave_slot(state, id);
  state.blocks.set_state(id, BlockState::kCold);
  record.slot = {};
  record.generation = 0;
  record.flags |= kBlockDoubtful;
  state.tree->settle(id);
  cold_list(state, id);
  waits_resolve(state, id, false);
}

// What the device could not read it may read the next time: the copy goes when two reads in a row failed, so that nobody
// asks for a lost sector for ever, and one error costs no block.
bool is_copy_gone(const DiskNews& news, const Restore& restore) {
  if (news.is_dropped || news.code == Code::kStale || news.code == Code::kCorrupt) return true;
  return news.code == Code::kSystem && restore.was_doubtful;
}

// The copy that was asked for may be gone, while reclaim has moved the block elsewhere.
void fail(StoreState& state, const DiskNews& news, const Restore& restore) {
  const BlockId id = restore.block;
  ++state.stats.restores_failed;
  const bool is_that_copy = state.disk->locators[index_of(id)] == restore.locator;
  if ((state.blocks[id].flags & kBlockOnDisk) != 0 && is_that_copy && is_copy_gone(news, restore)) {
    disk_detach(state, id);
    ++state.stats.disk_lost;
  }
  if ((state.blocks[id].flags & kBlockOnDisk) != 0) return cool_again(state, id);
  restore_drop(state, id);
}

}  // namespace

std::size_t restore_step(StoreState& state) {
  std::array<std::uint32_t, kDiskGroupMax> numbers;
  std::size_t sent = 0;
  for (std::size_t count = gather(state, numbers); count > 0; count = gather(state, numbers)) {
    for (std::size_t i = 0; i < count; ++i) send(state, numbers[i], i + 1 == count);
    sent += count;
  }
  return sent;
}

void restore_on_get(StoreState& state, const DiskNews& news) {
  RestoreTable& restores = state.disk->restores;
  const auto number = static_cast<std::uint32_t>(tag_number(news.tag));
  Restore& restore = restores[number];
  --restores.gets_open;
  restores.get_bytes -= state.slab_of(restore.slot).slot_bytes();
  // What a device still writes to is not what was verified.
  const bool is_right = news.code == Code::kOk && !news.is_held;
  if (restore.block != BlockId::kNone && is_right) {
    publish(state, restore.block);
    --state.stats.blocks_restoring;
    return restores.free(number);
  }
  if (restore.block != BlockId::kNone) fail(state, news, restore);
  restore.block = BlockId::kNone;
  if (!news.is_held) return give_slot_back(state, number);
  ++restores.held_count;
}

void restore_on_released(StoreState& state, std::uint32_t number) {
  --state.disk->restores.held_count;
  give_slot_back(state, number);
}

void restore_drop(StoreState& state, BlockId id) {
  state.disk->restores[index_of(state.blocks[id].next)].block = BlockId::kNone;
  block_unpublish(state, id);
  leave_slot(state, id);
  record_free(state, id);
}

}  // namespace kvtier
