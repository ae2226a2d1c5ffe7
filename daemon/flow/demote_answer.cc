// What is saved, what is not, and what the tier says to a put.
#include <algorithm>

#include "daemon/flow/demote.h"
#include "daemon/flow/directory_growth.h"
#include "daemon/flow/disk_send.h"

namespace kvtier {
namespace {

constexpr TimeNs kPauseMinNs = 10 * kNsPerMs;
constexpr TimeNs kPauseMaxNs = kNsPerSecond;

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
  // It was dropped meanwhile, or recovery found a copy.
  if (record.state != BlockState::kReady || (record.flags & kBlockOnDisk) != 0)
    return disk_forget(state, locator);
  Tenant& tenant = state.tenants[record.tenant];
  disk_attach(state, id, locator);
  (void)tenant.directory.update(record.space, record.key, directory_residency(record));
  ++state.stats.demotions;
  state.stats.demoted_bytes += tenant.spaces[static_cast<std::uint32_t>(record.space) - 1].block_bytes;
}

void scan_all_again(StoreState& state) {
  for (Tenant& tenant : state.tenants) {
    for (SlotClass& each : tenant.classes) each.saving.is_due = true;
  }
}

// It stays as it is, and is tried again. Blocks that the tier does not take at all are not tried.
void failed(StoreState& state, const BlockRecord& record, Code code) {
  DiskTier& disk = *state.disk;
  ++state.stats.demotions_failed;
  Space& space = state.tenants[record.tenant].spaces[static_cast<std::uint32_t>(record.space) - 1];
  if (code == Code::kInvalid) space.is_unsavable = true;
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

bool demote_can_save(const StoreState& state, BlockId id) {
  constexpr std::uint16_t kNo = kBlockOnDisk | kBlockStoring | kBlockUnverified;
  const BlockRecord& record = state.blocks[id];
  if (record.state != BlockState::kReady || (record.flags & kNo) != 0) return false;
  const Space& space = state.tenants[record.tenant].spaces[static_cast<std::uint32_t>(record.space) - 1];
  const bool is_slab_known = state.disk->slabs[record.slot.slab()] == DiskTier::SlabUse::kAdded;
  return space.is_told && !space.is_invalidated && !space.is_unsavable && is_slab_known;
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
  }
  for (Deferred& deferred : state.deferred) deferred.is_ready |= deferred.is_for_saving;
}

void demote_on_released(StoreState& state, BlockId id) {
  let_go(state, state.blocks[id]);
  for (Deferred& deferred : state.deferred) deferred.is_ready |= deferred.is_for_saving;
}

}  // namespace kvtier
