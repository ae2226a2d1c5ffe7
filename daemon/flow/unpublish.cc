#include "daemon/flow/unpublish.h"

#include <algorithm>

#include "daemon/flow/checksums.h"
#include "daemon/flow/cool.h"
#include "daemon/flow/disk_send.h"
#include "daemon/flow/pin.h"
#include "daemon/flow/records.h"
#include "daemon/flow/slots.h"
#include "daemon/flow/wait.h"

namespace kvtier {
namespace {

constexpr std::size_t kDrainingStep = 256;
constexpr TimeNs kDrainingPauseNs = 5 * kNsPerMs;

bool has_lease(StoreState& state, const BlockRecord& record) {
  const Slab& slab = state.slab_of(record.slot);
  for (const SessionIndex index : state.tenants[record.tenant].sessions) {
    if (Pins::is_pinned(state.session(index)->pin(slab, record.slot.slot(), state.pins_stride))) return true;
  }
  return false;
}

// An adopted block whose checksum was not compared yet: it is in no index and on no list.
void forget_unverified(StoreState& state, BlockId id) {
  state.blocks[id].flags &= static_cast<std::uint16_t>(~kBlockUnverified);
  state.tree->detach(id);
  --state.unverified;
  ++state.stats.adoption_dropped;
}

// Off the list of its state.
void leave_list(StoreState& state, Tenant& tenant, BlockId id) {
  const BlockRecord& record = state.blocks[id];
  switch (record.state) {
    case BlockState::kWriting:
    case BlockState::kRestoring:
      return;
    case BlockState::kCold:
      return cold_unlist(state, id);
    default:
      break;
  }
  state.class_of(record).evictor->remove(id);
  --state.stats.blocks_ready;
  --tenant.blocks_ready;
}

constexpr std::uint16_t kReadByUs = kBlockBusy | kBlockStoring;  // by an agent or a device

}  // namespace

void block_unpublish(StoreState& state, BlockId id) {
  BlockRecord& record = state.blocks[id];
  if ((record.flags & kBlockUnverified) != 0) return forget_unverified(state, id);
  Tenant& tenant = state.tenants[record.tenant];
  (void)tenant.directory.remove(record.space, record.key);  // not there: a directory without room for it
  state.index->erase(tenant.id, record.space, record.key);
  state.tree->detach(id);
  checksum_forget(state, id);
  leave_list(state, tenant, id);
  disk_detach(state, id);
  if ((record.flags & kBlockPinned) != 0) (void)pin_drop(state, id);
  waits_resolve(state, id, false);
}

void block_free(StoreState& state, BlockId id) {
  const BlockRecord& record = state.blocks[id];
  slot_release(state, state.tenants[record.tenant], record.slot);
  record_free(state, id);
}

void block_drop(StoreState& state, BlockId id) {
  BlockRecord& record = state.blocks[id];
  KV_CHECK(record.state == BlockState::kReady, "only a ready block is dropped");
  Slab& slab = state.slab_of(record.slot);
  (void)Pins::try_evict(slab.table().cell(record.slot.slot()),
                        [] { return false; });  // evicting, whoever leases
  state.blocks.set_state(id, BlockState::kEvicting);
  block_unpublish(state, id);
  if (!has_lease(state, record) && (record.flags & kReadByUs) == 0) return block_free(state, id);
  state.blocks.set_state(id, BlockState::kDraining);
  ++state.stats.blocks_draining;
  state.draining.push_back(id);
  state.draining_at_ns = std::min(state.draining_at_ns, state.now() + kDrainingPauseNs);
}

void block_disown(StoreState& state, BlockId id) {
  BlockRecord& record = state.blocks[id];
  KV_CHECK(record.state == BlockState::kWriting, "only a block that is being written is disowned");
  block_unpublish(state, id);
  KV_CHECK(state.slab_of(record.slot).table().quarantine(record.slot.slot()),
           "a block being written has a writing slot");
  state.blocks.set_state(id, BlockState::kQuarantined);
  --state.stats.blocks_writing;
  ++state.stats.slots_quarantined;
}

std::size_t draining_step(StoreState& state) {
  if (state.draining.empty() || state.now() < state.draining_at_ns) return 0;
  std::size_t freed = 0;
  for (std::size_t looked = 0; looked < kDrainingStep && !state.draining.empty(); ++looked) {
    if (state.draining_next >= state.draining.size()) state.draining_next = 0;
    const BlockId id = state.draining[state.draining_next];
    const BlockRecord& record = state.blocks[id];
    if (has_lease(state, record) || (record.flags & kReadByUs) != 0) {
      ++state.draining_next;
      continue;
    }
    state.draining[state.draining_next] = state.draining.back();
    state.draining.pop_back();
    --state.stats.blocks_draining;
    block_free(state, id);
    ++freed;
  }
  state.draining_at_ns = state.draining.empty() ? kNever : state.now() + kDrainingPauseNs;
  return freed;
}

}  // namespace kvtier
