#include "daemon/flow/disk_entry.h"

#include "daemon/flow/cool.h"
#include "daemon/flow/directory_growth.h"
#include "daemon/flow/disk_send.h"
#include "daemon/flow/place.h"
#include "daemon/flow/records.h"

namespace kvtier {
namespace {

// Nobody has used it since the start.
constexpr std::uint32_t kAgeMs = 3'600'000;

void refuse(StoreState& state, const DiskNews& news) {
  ++state.stats.disk_refused;
  disk_forget(state, news.locator);
}

// Of two copies the later one counts.
void meet(StoreState& state, BlockId id, const DiskLocator& locator) {
  BlockRecord& record = state.blocks[id];
  const bool has_copy = (record.flags & kBlockOnDisk) != 0;
  if (has_copy && state.disk->locators[index_of(id)].sequence >= locator.sequence)
    return disk_forget(state, locator);
  disk_attach(state, id, locator);
  Tenant& tenant = state.tenants[record.tenant];
  if (!has_copy) (void)tenant.directory.update(record.space, record.key, directory_residency(record));
}

void find_parent(StoreState& state, BlockId id, const Key& parent_key) {
  if (parent_key.is_zero()) return;
  const BlockRecord& record = state.blocks[id];
  const BlockId parent = state.index->find(NamespaceId{record.tenant}, record.space, parent_key);
  if (parent == BlockId::kNone || !state.tree->attach(id, parent))
    state.disk->orphans.add(state.blocks, id, parent_key);
}

bool make_known(StoreState& state, Tenant& tenant, BlockId id) {
  (void)directory_make_room(state, tenant, 1);
  const BlockRecord& record = state.blocks[id];
  if (state.index->insert(tenant.id, record.space, record.key, id) != Code::kOk) return false;
  if (directory_insert(state, tenant, {record.space, record.key, directory_cold()}) == Code::kOk) return true;
  state.index->erase(tenant.id, record.space, record.key);
  return false;
}

// It takes nobody's place: those that are there were used since, or are newer.
BlockId make_record(StoreState& state, const Tenant& tenant, const DiskNews& news) {
  const BlockId id = records_have_room(state) ? state.blocks.allocate(BlockState::kCold) : BlockId::kNone;
  if (id == BlockId::kNone) return id;
  BlockRecord& record = state.blocks[id];
  record.key = news.key;
  record.space = news.space;
  record.tenant = static_cast<std::uint16_t>(index_of(tenant.id));
  record.access_ms = static_cast<std::uint32_t>(state.now() / kNsPerMs) - kAgeMs;
  return id;
}

void add_cold(StoreState& state, Tenant& tenant, const DiskNews& news) {
  const BlockId id = make_record(state, tenant, news);
  if (id == BlockId::kNone) {
    ++state.stats.index_drops;
    return refuse(state, news);
  }
  if (!make_known(state, tenant, id)) {
    state.blocks.free(id);
    return refuse(state, news);
  }
  ++state.space(tenant, news.space)->blocks;
  disk_attach(state, id, news.locator);
  cold_list_coldest(state, id);  // the newest come first
  find_parent(state, id, news.parent);
  place_children(state, id);
  ++state.stats.disk_recovered;
}

}  // namespace

void disk_on_entry(StoreState& state, const DiskNews& news) {
  Tenant* tenant =
      index_of(news.tenant) < state.tenants.size() ? &state.tenants[index_of(news.tenant)] : nullptr;
  const Space* space = tenant == nullptr ? nullptr : state.space(*tenant, news.space);
  if (space == nullptr || space->is_invalidated || news.key.is_zero()) return refuse(state, news);
  const BlockId id = state.index->find(tenant->id, news.space, news.key);
  if (id != BlockId::kNone) return meet(state, id, news.locator);
  add_cold(state, *tenant, news);
}

void disk_join(StoreState& state, BlockId cold, BlockId warm) {
  BlockRecord& to = state.blocks[cold];
  BlockRecord& from = state.blocks[warm];
  Tenant& tenant = state.tenants[to.tenant];
  cold_unlist(state, cold);
  to.slot = from.slot;
  to.generation = from.generation;
  to.checksum = from.checksum;
  to.access_ms = from.access_ms;
  to.hits += from.hits;
  to.flags |= kBlockSummed;
  to.flags &= static_cast<std::uint16_t>(~kBlockDoubtful);
  state.slab_of(to.slot).set_block(to.slot.slot(), cold);
  state.blocks.set_state(cold, BlockState::kRestoring);  // for this moment: there is nothing to read
  state.blocks.set_state(cold, BlockState::kReady);
  state.tree->settle(cold);
  (void)tenant.directory.update(to.space, to.key, directory_residency(to));
  state.tree->move_children(warm, cold);
  state.tree->detach(warm);
  state.blocks.set_state(warm, BlockState::kEvicting);
  record_free(state, warm);
}

}  // namespace kvtier
