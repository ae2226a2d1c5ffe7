#include "daemon/flow/cool.h"

#include "daemon/flow/checksums.h"
#include "daemon/flow/directory_growth.h"
#include "daemon/flow/disk_send.h"
#include "daemon/flow/records.h"
#include "daemon/flow/slots.h"
#include "daemon/flow/unpublish.h"
#include "daemon/flow/wait.h"

namespace kvtier {
namespace {

// Parents that lie colder than a child are put behind it; so many before one goes all the same.
constexpr int kParentsMax = 64;

// The namespace whose coldest block was used longest ago.
Tenant* coldest_tenant(StoreState& state) {
  const auto now_ms = static_cast<std::uint32_t>(state.now() / kNsPerMs);
  Tenant* best = nullptr;
  std::uint32_t best_age = 0;
  for (Tenant& tenant : state.tenants) {
    if (tenant.blocks_cold == 0) continue;
    const std::uint32_t age = now_ms - state.blocks[tenant.cold->coldest()].access_ms;
    if (best != nullptr && age <= best_age) continue;
    best = &tenant;
    best_age = age;
  }
  return best;
}

Tenant& count_cold(StoreState& state, BlockId id) {
  Tenant& tenant = state.tenants[state.blocks[id].tenant];
  ++tenant.blocks_cold;
  ++state.stats.blocks_cold;
  return tenant;
}

}  // namespace

void cold_list(StoreState& state, BlockId id) {
  count_cold(state, id).cold->insert(id, BlockId::kNone);
}

void cold_list_coldest(StoreState& state, BlockId id) {
  count_cold(state, id).cold->insert_coldest(id);
}

void cold_unlist(StoreState& state, BlockId id) {
  Tenant& tenant = state.tenants[state.blocks[id].tenant];
  tenant.cold->remove(id);
  --tenant.blocks_cold;
  --state.stats.blocks_cold;
  state.disk->orphans.remove(state.blocks, id);
}

void block_cool(StoreState& state, BlockId id) {
  BlockRecord& record = state.blocks[id];
  KV_CHECK((record.flags & (kBlockOnDisk | kBlockStoring)) == kBlockOnDisk, "what cools is saved");
  Tenant& tenant = state.tenants[record.tenant];
  (void)tenant.directory.update(record.space, record.key, directory_cold());
  checksum_forget(state, id);
  state.class_of(record).evictor->remove(id);
  --state.stats.blocks_ready;
  --tenant.blocks_ready;
  state.blocks.set_state(id, BlockState::kCold);
  waits_resolve(state, id, false);
  slot_release(state, tenant, record.slot);
  record.slot = {};
  record.generation = 0;
  state.tree->settle(id);
  cold_list(state, id);
}

void cold_drop(StoreState& state, BlockId id) {
  block_unpublish(state, id);
  record_free(state, id);
}

bool cold_drop_coldest(StoreState& state, Tenant* tenant) {
  if (tenant == nullptr) tenant = coldest_tenant(state);
  if (tenant == nullptr || tenant->blocks_cold == 0) return false;
  BlockId id = tenant->cold->coldest();
  for (int i = 0; i < kParentsMax && state.tree->has_children(id); ++i) {
    tenant->cold->defer(id);
    id = tenant->cold->coldest();
  }
  cold_drop(state, id);
  ++state.stats.cold_dropped;
  return true;
}

void copy_lost(StoreState& state, BlockId id) {
  BlockRecord& record = state.blocks[id];
  if (record.state == BlockState::kCold) return cold_drop(state, id);
  disk_detach(state, id);
  Tenant& tenant = state.tenants[record.tenant];
  (void)tenant.directory.update(record.space, record.key, directory_residency(record));
}

}  // namespace kvtier
