#include "daemon/flow/adopt_blocks.h"

#include <algorithm>

#include "daemon/flow/adopt.h"
#include "daemon/flow/demote.h"
#include "daemon/flow/directory_growth.h"
#include "daemon/flow/disk_entry.h"
#include "daemon/flow/place.h"
#include "daemon/flow/slabs.h"
#include "daemon/flow/slots.h"
#include "daemon/flow/stock.h"
#include "daemon/flow/unpublish.h"

namespace kvtier {
namespace {

// The record names a slot of its namespace, in the generation that the slot has, which no other record named.
bool is_plausible(StoreState& state, const BlockRecord& record) {
  if (record.tenant >= state.tenants.size() || record.slot.slab() >= state.memory.slab_count()) return false;
  Tenant& tenant = state.tenants[record.tenant];
  const Space* space = state.space(tenant, record.space);
  Slab& slab = state.slab_of(record.slot);
  if (space == nullptr || slab.owner() != tenant.id || record.slot.slot() >= slab.slot_count()) return false;
  if (slab.slot_bytes() != tenant.classes[space->slot_class].slot_bytes) return false;
  if (slab.block(record.slot.slot()) != BlockId::kNone) return false;
  return slab.table().at(record.slot.slot()).generation == record.generation && record.generation != 0;
}

void claim(StoreState& state, BlockId id, BlockRecord& record, BlockState as) {
  state.blocks.adopt_state(id, as);
  state.slab_of(record.slot).set_block(record.slot.slot(), id);
  ++state.space_of(record).blocks;
}

void drain_later(StoreState& state, BlockId id, BlockRecord& record) {
  Slab& slab = state.slab_of(record.slot);
  (void)Pins::try_evict(slab.table().cell(record.slot.slot()), [] { return false; });
  claim(state, id, record, BlockState::kDraining);
  record.flags = 0;  // no agent of the dead daemon reads it any more
  state.draining.push_back(id);
  state.draining_at_ns = 0;
  ++state.stats.blocks_draining;
  ++state.stats.adoption_dropped;
}

bool adopt_ready(StoreState& state, BlockId id, BlockRecord& record) {
  Slab& slab = state.slab_of(record.slot);
  const SlotState word = slab.table().at(record.slot.slot()).state;
  if (word == SlotState::kEvicting) {
    (void)slab.table().put_back(record.slot.slot());
  } else if (word != SlotState::kReady) {
    return false;
  }
  if ((record.flags & kBlockSummed) == 0) {
    drain_later(state, id, record);
    return true;
  }
  claim(state, id, record, BlockState::kReady);
  record.flags = kBlockSummed | kBlockUnverified;
  state.adopted.push_back({.block = id, .generation = record.generation, .parent = record.parent});
  return true;
}

// Its writer lives and may still write: nobody else gets the slot before the writer gave it up or exited.
bool adopt_writing(StoreState& state, BlockId id, BlockRecord& record) {
  Session* writer = state.session(SessionIndex{record.writer});
  Slab& slab = state.slab_of(record.slot);
  // The daemon died in the middle of the commit: clients may have leased it already.
  if (slab.table().at(record.slot.slot()).state == SlotState::kReady)
    return drain_later(state, id, record), true;
  if (writer == nullptr || slab.writer != writer->index) return false;
  if (slab.table().at(record.slot.slot()).state != SlotState::kQuarantined &&
      !slab.table().quarantine(record.slot.slot())) {
    return false;
  }
  claim(state, id, record, BlockState::kQuarantined);
  record.flags = 0;
  writing_link(state, *writer, id);
  ++slab.writing_count;
  ++state.stats.slots_quarantined;
  return true;
}

// The daemon may have died after it had given the slot back, before it freed the record.
bool adopt_draining(StoreState& state, BlockId id, BlockRecord& record) {
  const SlotState word = state.slab_of(record.slot).table().at(record.slot.slot()).state;
  if (word != SlotState::kReady && word != SlotState::kEvicting) return false;
  drain_later(state, id, record);
  return true;
}

// A stocked slot that the client has not taken is free, and no loss.
bool is_unused_stock(StoreState& state, const BlockRecord& record) {
  if (record.state != BlockState::kStocked || record.stock_entry >= kStockEntries) return false;
  const Session* owner = state.session(SessionIndex{record.writer});
  if (owner == nullptr) return false;
  Stock stock = stock_of(*owner);
  return stock.is_empty(record.stock_entry) || stock.take_back(record.stock_entry, record.space);
}

bool adopt_one(StoreState& state, BlockId id, BlockRecord& record) {
  if (!is_plausible(state, record)) return false;
  switch (record.state) {
    case BlockState::kReady:
    case BlockState::kEvicting:
      return adopt_ready(state, id, record);
    case BlockState::kWriting:
    case BlockState::kStocked:
    case BlockState::kQuarantined:
      return adopt_writing(state, id, record);
    case BlockState::kDraining:
      return adopt_draining(state, id, record);
    case BlockState::kCold:  // recovery finds it again
    case BlockState::kRestoring:
    case BlockState::kFree:
      return false;
  }
  return false;
}

// Slots that no record names and that somebody may have been writing to, a device of the dead daemon among them: what
// lands there late lands in pages that are no more. Best effort: without new pages the slot is used as it is.
void renew_unclaimed(Slab& slab) {
  for (std::uint32_t slot = 0; slot < slab.slot_count(); ++slot) {
    const SlotState word = slab.table().at(slot).state;
    const bool is_written = word == SlotState::kWriting || word == SlotState::kQuarantined;
    if (!is_written || slab.block(slot) != BlockId::kNone) continue;
    const std::uint64_t at = slot * slab.slot_bytes();
    if (shm_punch(slab.data_fd(true), at, slab.slot_bytes()).is_ok())
      (void)shm_reserve(slab.data_fd(true), at, slab.slot_bytes());
  }
}

void unlink(BlockRecord& record) {
  record.parent = record.first_child = record.next_sibling = record.prev_sibling = BlockId::kNone;
  if (record.state == BlockState::kReady || record.state == BlockState::kDraining)
    record.prev = record.next = BlockId::kNone;
}

}  // namespace

Status adopt_blocks(StoreState& state) {
  for (std::uint32_t i = 0; i < state.blocks.limit(); ++i) {
    const BlockId id{i};
    BlockRecord& record = state.blocks[id];
    if (record.state == BlockState::kFree) continue;
    if (is_unused_stock(state, record)) {
      state.blocks.adopt_state(id, BlockState::kFree);
    } else if (const bool is_told_again = state.disk && (record.flags & kBlockOnDisk) != 0;
               !adopt_one(state, id, record)) {
      state.blocks.adopt_state(id, BlockState::kFree);
      if (!is_told_again) ++state.stats.adoption_dropped;  // else the NVMe tier finds it
    }
    unlink(record);
  }
  for (const auto& session : state.sessions) {
    for (std::uint32_t i = 0; session != nullptr && i < kStockEntries; ++i) stock_of(*session).clear(i);
  }
  state.blocks.rebuild_free_list();
  for (Tenant& tenant : state.tenants) {
    for (const SlabIndex index : tenant.slabs) {
      Slab& slab = state.memory.slab(index);
      renew_unclaimed(slab);
      slab.finish_adoption();
      for (SlotClass& slot_class : tenant.classes) {
        if (slot_class.slot_bytes == slab.slot_bytes()) slabs_join_class(state, slot_class, slab);
      }
    }
  }
  const auto age = [&](const AdoptedBlock& entry) { return state.blocks[entry.block].access_ms; };
  std::ranges::stable_sort(state.adopted, [&](const AdoptedBlock& a, const AdoptedBlock& b) {
    return static_cast<std::int32_t>(age(a) - age(b)) > 0;
  });
  for (const AdoptedBlock& entry : state.adopted) {
    const bool has_parent = state.blocks.is_valid(index_of(entry.parent)) &&
                            (state.blocks[entry.parent].flags & kBlockUnverified) != 0;
    if (has_parent) (void)state.tree->attach(entry.block, entry.parent);
  }
  state.unverified = state.adopted.size();
  return Status::ok();
}

namespace {

// Known again, in the place of the cold block of its name if recovery came first. kNone: it cannot be.
BlockId make_known(StoreState& state, Tenant& tenant, BlockId id) {
  const BlockRecord& record = state.blocks[id];
  const BlockId there = state.index->find(tenant.id, record.space, record.key);
  if (there != BlockId::kNone && state.blocks[there].state == BlockState::kCold) {
    disk_join(state, there, id);
    return there;
  }
  if (state.index->insert(tenant.id, record.space, record.key, id) != Code::kOk) return BlockId::kNone;
  if (directory_insert(state, tenant, {record.space, record.key, directory_residency(record)}) == Code::kOk) {
    place_children(state, id);
    return id;
  }
  state.index->erase(tenant.id, record.space, record.key);
  return BlockId::kNone;
}

void let_go(StoreState& state, BlockId id) {
  state.tree->detach(id);
  const SlotRef slot = state.blocks[id].slot;
  (void)Pins::try_evict(state.slab_of(slot).table().cell(slot.slot()), [] { return false; });
  state.blocks.set_state(id, BlockState::kEvicting);
  state.blocks.set_state(id, BlockState::kDraining);
  state.draining.push_back(id);
  state.draining_at_ns = 0;
  ++state.stats.blocks_draining;
  ++state.stats.adoption_dropped;
}

}  // namespace

void adopt_verified(StoreState& state, BlockId id, bool is_right) {
  BlockRecord& record = state.blocks[id];
  Tenant& tenant = state.tenants[record.tenant];
  const Space& space = state.space_of(record);
  record.flags &= static_cast<std::uint16_t>(~kBlockUnverified);
  --state.unverified;
  if (!is_right) ++state.stats.checksum_failures;
  const BlockId known = is_right && !space.is_invalidated ? make_known(state, tenant, id) : BlockId::kNone;
  if (known == BlockId::kNone) return let_go(state, id);
  tenant.classes[space.slot_class].evictor->insert_coldest(known);
  ++state.stats.blocks_ready;
  ++tenant.blocks_ready;
  ++state.stats.blocks_adopted;
  demote_committed(state, known);
}

}  // namespace kvtier
