#include "tests/support/store_checks.h"

#include <gtest/gtest.h>

#include <map>

#include "daemon/flow/state.h"

namespace kvtier::test {
namespace {

struct Counts {
  std::uint64_t ready = 0;
  std::uint64_t writing = 0;
  std::uint64_t quarantined = 0;
  std::uint64_t draining = 0;
  std::uint64_t stocked = 0;
  std::uint64_t cold = 0;
  std::uint64_t restoring = 0;
  std::uint64_t on_disk = 0;
};

// A stocked block is its session's, under the entry that says so, and offered for its own space or taken.
void check_stocked(StoreState& state, BlockId id, const BlockRecord& record) {
  const Session* owner = state.session(SessionIndex{record.writer});
  ASSERT_NE(owner, nullptr);
  EXPECT_EQ(owner->life, Session::Life::kAttached);
  ASSERT_LT(record.stock_entry, kStockEntries);
  EXPECT_EQ(owner->stock[record.stock_entry], id);
  const Stock stock(owner->channel.data() + ChannelLayout::kStock);
  EXPECT_FALSE(stock.is_empty(record.stock_entry));
  EXPECT_TRUE(record.key.is_zero());
}

void check_visible(StoreState& state, BlockId id, const BlockRecord& record) {
  Tenant& tenant = state.tenants[record.tenant];
  EXPECT_EQ(state.index->find(tenant.id, record.space, record.key), id);
  Residency at;
  ASSERT_TRUE(tenant.directory.find(record.space, record.key, at));
  const bool is_cold = record.state == BlockState::kCold;
  EXPECT_EQ(at.host, is_cold ? Locator{} : (Locator{record.slot, record.generation}));
  EXPECT_EQ(at.is_pending(), record.state == BlockState::kWriting || record.state == BlockState::kRestoring);
  EXPECT_EQ(at.is_on_disk(), (record.flags & kBlockOnDisk) != 0);
}

void check_family(StoreState& state, BlockId id, const BlockRecord& record) {
  bool is_cold_seen = false;
  for (BlockId child = record.first_child; child != BlockId::kNone;
       child = state.blocks[child].next_sibling) {
    EXPECT_EQ(state.blocks[child].parent, id);
    const bool is_cold = state.blocks[child].state == BlockState::kCold;
    EXPECT_TRUE(is_cold || !is_cold_seen) << "cold children stand behind the others";
    is_cold_seen = is_cold;
  }
}

void check_cold(StoreState& state, BlockId id, const BlockRecord& record) {
  EXPECT_EQ(record.generation, 0U);
  EXPECT_NE(record.flags & kBlockOnDisk, 0);
  EXPECT_EQ(record.flags & kBlockStoring, 0);
  check_visible(state, id, record);
  check_family(state, id, record);
}

void check_record(StoreState& state, BlockId id, Counts& counts) {
  const BlockRecord& record = state.blocks[id];
  constexpr std::uint16_t kWithinACall = kBlockWanted | kBlockJustReserved | kBlockPassedOver;
  EXPECT_EQ(record.flags & kWithinACall, 0);
  counts.on_disk += (record.flags & kBlockOnDisk) != 0 ? 1 : 0;
  if (record.state == BlockState::kCold) {
    ++counts.cold;
    return check_cold(state, id, record);
  }
  const SlotWord word = state.slab_of(record.slot).table().at(record.slot.slot());
  EXPECT_EQ(word.generation, record.generation);
  EXPECT_EQ(state.slab_of(record.slot).block(record.slot.slot()), id);
  switch (record.state) {
    case BlockState::kReady:
      ++counts.ready;
      EXPECT_EQ(word.state, SlotState::kReady);
      check_visible(state, id, record);
      break;
    case BlockState::kWriting:
      ++counts.writing;
      EXPECT_EQ(word.state, SlotState::kWriting);
      check_visible(state, id, record);
      break;
    case BlockState::kRestoring:
      ++counts.restoring;
      EXPECT_EQ(word.state, SlotState::kWriting);
      check_visible(state, id, record);
      break;
    case BlockState::kQuarantined:
      ++counts.quarantined;
      EXPECT_EQ(word.state, SlotState::kQuarantined);
      break;
    case BlockState::kDraining:
      ++counts.draining;
      EXPECT_EQ(word.state, SlotState::kEvicting);
      break;
    case BlockState::kStocked:
      ++counts.stocked;
      EXPECT_EQ(word.state, SlotState::kWriting);
      check_stocked(state, id, record);
      break;
    default:
      ADD_FAILURE() << "a block at rest is in state " << static_cast<int>(record.state);
  }
  check_family(state, id, record);
}

void check_classes(StoreState& state, std::uint64_t ready) {
  std::uint64_t free = 0;
  std::uint64_t listed = 0;
  for (Tenant& tenant : state.tenants) {
    for (SlotClass& slot_class : tenant.classes) {
      std::uint64_t class_free = 0;
      std::uint64_t slots = 0;
      for (const SlabIndex index : slot_class.slabs) {
        Slab& slab = state.memory.slab(index);
        EXPECT_EQ(slab.owner(), tenant.id);
        class_free += slab.free_count();
        slots += slab.slot_count();
        EXPECT_EQ(slab.free_count() > 0, slab.free_list_position != ~0U);
      }
      EXPECT_EQ(class_free, slot_class.slots_free);
      EXPECT_EQ(slots, slot_class.slots);
      free += class_free;
      listed += slot_class.evictor->size();
    }
  }
  EXPECT_EQ(listed, ready) << "each ready block is on one evictor's list";
  EXPECT_EQ(free, state.stats.slots_free);
}

void check_slabs(StoreState& state) {
  for (const Tenant& tenant : state.tenants) {
    std::size_t in_classes = 0;
    for (const SlotClass& slot_class : tenant.classes) in_classes += slot_class.slabs.size();
    EXPECT_EQ(in_classes, tenant.slabs.size()) << "each slab is in one class";
  }
}

// Each of the four counts of stocked slots is the number of records in that state.
void check_stocks(StoreState& state, std::uint64_t stocked) {
  EXPECT_EQ(state.stats.slots_stocked, stocked);
  std::uint64_t of_sessions = 0;
  std::uint64_t of_classes = 0;
  std::uint64_t of_slabs = 0;
  for (const auto& session : state.sessions) of_sessions += session == nullptr ? 0 : session->stocked_count;
  for (const Tenant& tenant : state.tenants) {
    for (const SlotClass& each : tenant.classes) of_classes += each.slots_stocked;
    for (const SlabIndex index : tenant.slabs) {
      const Slab& slab = state.memory.slab(index);
      EXPECT_LE(slab.stocked_count, slab.writing_count);
      of_slabs += slab.stocked_count;
    }
  }
  EXPECT_EQ(of_sessions, stocked);
  EXPECT_EQ(of_classes, stocked);
  EXPECT_EQ(of_slabs, stocked);
}

// Without an answer under way each slot that is being written by nobody's session is one of a restore.
void check_disk(StoreState& state, const Counts& counts) {
  EXPECT_EQ(state.stats.blocks_cold, counts.cold);
  EXPECT_EQ(state.stats.blocks_restoring, counts.restoring);
  std::uint64_t listed = 0;
  std::uint64_t writing = 0;
  for (const Tenant& tenant : state.tenants) {
    listed += tenant.cold ? tenant.cold->size() : 0;
    for (const SlabIndex index : tenant.slabs) writing += state.memory.slab(index).writing_count;
  }
  EXPECT_EQ(listed, counts.cold) << "each cold block is on its namespace's list";
  const std::uint64_t restores = state.disk ? state.disk->restores.size() : 0;
  EXPECT_EQ(writing, counts.writing + counts.quarantined + counts.stocked + restores) << "a slot leaked";
  EXPECT_LE(counts.restoring, restores);
}

void check_pins(StoreState& state) {
  std::map<std::uint64_t, std::uint64_t> pins;  // by session id
  std::vector<std::uint64_t> bytes(state.tenants.size());
  for (const auto& [block, hold] : state.pin_holds) {
    const BlockRecord& record = state.blocks[BlockId{block}];
    EXPECT_NE(record.flags & kBlockPinned, 0);
    bytes[record.tenant] += state.slab_of(record.slot).slot_bytes();
    for (const Pin& pin : {hold.first, hold.second}) {
      if (pin.session_id == 0) continue;
      EXPECT_TRUE(state.pin_expiries.contains({pin.expires_ns, block, pin.session_id}));
      ++pins[pin.session_id];
    }
  }
  EXPECT_EQ(state.pinners.size(), pins.size());
  std::size_t expiries = 0;
  for (const auto& [session, count] : pins) {
    EXPECT_EQ(state.pinners[session].blocks, count);
    expiries += count;
  }
  EXPECT_EQ(state.pin_expiries.size(), expiries);
  for (const Tenant& tenant : state.tenants) EXPECT_EQ(tenant.pinned_bytes, bytes[index_of(tenant.id)]);
  EXPECT_EQ(state.stats.blocks_pinned, state.pin_holds.size());
}

}  // namespace

void check_store(Store& store) {
  StoreState& state = store.state();
  Counts counts;
  for (std::uint32_t i = 0; i < state.blocks.limit(); ++i) {
    if (state.blocks[BlockId{i}].state != BlockState::kFree) check_record(state, BlockId{i}, counts);
  }
  EXPECT_EQ(counts.ready, state.stats.blocks_ready);
  EXPECT_EQ(counts.writing, state.stats.blocks_writing);
  EXPECT_EQ(counts.quarantined, state.stats.slots_quarantined);
  EXPECT_EQ(counts.draining, state.stats.blocks_draining);
  const std::uint64_t known = counts.ready + counts.writing + counts.cold + counts.restoring;
  EXPECT_EQ(state.index->size(), known);
  std::uint64_t entries = 0;
  for (const Tenant& tenant : state.tenants) entries += tenant.directory.size();
  EXPECT_EQ(entries, known);
  check_disk(state, counts);
  check_classes(state, counts.ready);
  check_slabs(state);
  check_pins(state);
  check_stocks(state, counts.stocked);
}

}  // namespace kvtier::test
