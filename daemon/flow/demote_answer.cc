// What is saved, what is not, and what the tier says to a put.
#include <algorithm>

#include "daemon/flow/demote.h"
#include "daemon/flow/directory_growth.h"
#include "daemon/flow/disk_send.h"
#include "daemon/flow/sync.h"

namespace kvtier {
namespace {

constexpr TimeNs kPauseMinNs = 10 * kNsPerMs;
constexpr TimeNs kPauseMaxNs = kNsPerSecond;

void wake_all(StoreState& state) {
  for (Deferred& deferred : state.deferred) deferred.is_ready |= deferred.is_for_saving;
}

bool is_clean(const BlockRecord& record) {
  constexpr std::uint16_t kSaved = kBlockOnDisk | kBlockStoring;
  return record.state == BlockState::kReady && (record.flags & kSaved) == kBlockOnDisk;
}

// Blocks that may leave now that this one is saved: it and those above it that waited for nothing else. None, as long as
// there are some below it.
std::uint32_t count_leaving(const StoreState& state, BlockId id) {
  if (!is_clean(state.blocks[id]) || state.tree->has_host_children(id)) return 0;
  std::uint32_t count = 1;
  for (BlockId up = state.blocks[id].parent; up != BlockId::kNone && count < kDiskGroupMax;
       id = up, up = state.blocks[up].parent, ++count) {
    const bool is_only =
        state.tree->first_host_child(up) == id && state.tree->next_host_sibling(id) == BlockId::kNone;
    if (!is_only || !is_clean(state.blocks[up])) break;
  }
  return count;
}

// So many blocks more may leave: for the reservations that wait longest for such. Each is tried again when it has as many as
// it misses, so that it looks at the cold end once, however many answers come.
void wake_for(StoreState& state, BlockId saved) {
  std::uint32_t leaving = count_leaving(state, saved);
  if (leaving == 0) return;
  SlotClass& slot_class = state.class_of(state.blocks[saved]);
  slot_class.barren = {};
  for (Deferred& each : state.deferred) {
    if (!each.is_for_saving || each.is_ready) continue;
    if (&state.tenants[index_of(each.tenant)].classes[each.slot_class] != &slot_class) continue;
    const std::uint32_t its = std::min(leaving, each.unsaved);
    each.unsaved -= its;
    each.is_ready = each.unsaved == 0;
    leaving -= its;
    if (leaving == 0) return;
  }
}

// Nothing of the tier reads the slot any more.
void let_go(StoreState& state, BlockRecord& record) {
  record.flags &= static_cast<std::uint16_t>(~kBlockStoring);
  if (record.state == BlockState::kDraining)
    state.draining_at_ns = std::min(state.draining_at_ns, state.now());
}

void end_put(StoreState& state, BlockRecord& record, const DiskNews& news) {
  KV_CHECK((record.flags & kBlockStoring) != 0, "an answer is to a put that is open");
  --state.disk->puts_open;
  state.disk->put_bytes -= state.slab_of(record.slot).slot_bytes();
  if (!news.is_held) let_go(state, record);
}

void saved(StoreState& state, BlockId id, const DiskLocator& locator) {
  BlockRecord& record = state.blocks[id];
  state.disk->puts_pause_ns = 0;
  state.disk->puts_heard_ns = state.now();
  // It was dropped meanwhile, or recovery found a copy.
  if (record.state != BlockState::kReady || (record.flags & kBlockOnDisk) != 0)
    return disk_forget(state, locator);
  Tenant& tenant = state.tenants[record.tenant];
  disk_attach(state, id, locator);
  (void)tenant.directory.update(record.space, record.key, directory_residency(record));
  ++state.stats.demotions;
  state.stats.demoted_bytes += state.space_of(record).block_bytes;
}

// As often as may be: what a full tier takes costs it other blocks, and beside one that also fails that would not end.
void scan_all_again(StoreState& state) {
  for (Tenant& tenant : state.tenants) {
    for (SlotClass& each : tenant.classes) {
      if (each.saving.is_due || each.saving.retries == 0) continue;
      --each.saving.retries;
      each.saving.is_due = true;
    }
  }
}

// It stays as it is, and is tried again. Blocks that the tier does not take at all are not tried.
void failed(StoreState& state, const BlockRecord& record, Code code) {
  DiskTier& disk = *state.disk;
  ++state.stats.demotions_failed;
  if (code == Code::kInvalid) state.space_of(record).is_unsavable = true;
  state.class_of(record).barren = {};
  scan_all_again(state);
  if (state.now() < disk.puts_again_ns) return;  // one trouble, one pause
  disk.puts_pause_ns = std::clamp(2 * disk.puts_pause_ns, kPauseMinNs, kPauseMaxNs);
  disk.puts_again_ns = state.now() + disk.puts_pause_ns;
}

}  // namespace

bool demote_works(const StoreState& state) {
  return state.disk && state.disk->life == DiskTier::Life::kReady &&
         state.now() >= state.disk->puts_again_ns && state.disk->port.takes_puts();
}

bool demote_is_silent(const StoreState& state) {
  const DiskTier& disk = *state.disk;
  if (disk.puts_open == 0 && disk.puts_pause_ns == 0) return false;  // nothing is to be heard
  return state.now() - disk.puts_heard_ns >= state.options.disk_wait_ns;
}

bool demote_can_save(const StoreState& state, BlockId id) {
  constexpr std::uint16_t kNo = kBlockOnDisk | kBlockStoring | kBlockUnverified | kBlockSuspect;
  const BlockRecord& record = state.blocks[id];
  if (record.state != BlockState::kReady || (record.flags & kNo) != 0) return false;
  const Space& space = state.space_of(record);
  const bool is_slab_known = state.disk->slabs[record.slot.slab()] == DiskTier::SlabUse::kAdded;
  return space.is_told && !space.is_invalidated && !space.is_unsavable && is_slab_known;
}

bool demote_admits(const StoreState& state, BlockId id) {
  if (!state.disk->port.wants_evidence()) return true;
  return state.blocks[id].hits > 0 || state.tree->has_cold_children(id);
}

bool demote_wants(const StoreState& state, BlockId id) {
  return demote_can_save(state, id) && demote_admits(state, id);
}

TimeNs demote_next_ns(const StoreState& state) {
  const DiskTier& disk = *state.disk;
  if (disk.life != DiskTier::Life::kReady || disk.puts_pause_ns == 0) return kNever;
  return disk.puts_again_ns > state.now() ? disk.puts_again_ns : kNever;
}

void demote_on_put(StoreState& state, const DiskNews& news) {
  const BlockId id{static_cast<std::uint32_t>(tag_number(news.tag))};
  BlockRecord& record = state.blocks[id];
  end_put(state, record, news);
  if (news.code == Code::kOk) {
    saved(state, id, news.locator);
  } else {
    failed(state, record, news.code);
    sync_on_refused(state, id, news);
  }
  if (news.code != Code::kOk || state.disk->puts_open == 0) return wake_all(state);
  if (!news.is_held) wake_for(state, id);
}

void demote_on_released(StoreState& state, BlockId id) {
  let_go(state, state.blocks[id]);
  wake_for(state, id);
}

}  // namespace kvtier
