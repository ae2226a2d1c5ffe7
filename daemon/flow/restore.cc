#include "daemon/flow/restore.h"

#include "daemon/flow/access.h"
#include "daemon/flow/cool.h"
#include "daemon/flow/directory_growth.h"
#include "daemon/flow/slots.h"

namespace kvtier {
namespace {

struct Plan {
  std::uint32_t leading = 0;  ///< keys before the first that is a miss
  std::uint32_t cold = 0;     ///< of them, those to be read
};

// Marks what is to stay while room is made for the rest. The blocks of the leading keys lie in the scratch.
Plan look(StoreState& state, NamespaceId tenant, SpaceId space, std::span<const Key> keys) {
  std::vector<BlockId>& blocks = state.scratch.blocks;
  blocks.clear();
  Plan plan;
  for (const Key& key : keys) {
    const BlockId id = key.is_zero() ? BlockId::kNone : state.index->find(tenant, space, key);
    if (id == BlockId::kNone) break;
    BlockRecord& record = state.blocks[id];
    const bool is_new = (record.flags & kBlockWanted) == 0;  // a key may be there twice
    if (record.state == BlockState::kCold && is_new) ++plan.cold;
    record.flags |= kBlockWanted;
    blocks.push_back(id);
    ++plan.leading;
  }
  return plan;
}

void begin_one(StoreState& state, BlockId id, const TakenSlot& taken, const Restore& of) {
  BlockRecord& record = state.blocks[id];
  Tenant& tenant = state.tenants[record.tenant];
  const bool was_doubtful = (record.flags & kBlockDoubtful) != 0;
  cold_unlist(state, id);
  record.slot = taken.slot;
  record.generation = taken.generation;
  record.flags = static_cast<std::uint16_t>((record.flags | kBlockUsed) & ~kBlockDoubtful);
  state.blocks.set_state(id, BlockState::kRestoring);
  state.slab_of(taken.slot).set_block(taken.slot.slot(), id);
  state.tree->settle(id);
  (void)tenant.directory.update(record.space, record.key, directory_residency(record));
  Restore restore = of;
  restore.block = id;
  restore.tenant = tenant.id;
  restore.slot = taken.slot;
  restore.locator = state.disk->locators[index_of(id)];
  restore.was_doubtful = was_doubtful;
  record.next = BlockId{state.disk->restores.add(restore)};  // it is on no list
  ++record.hits;
  record.access_ms = static_cast<std::uint32_t>(state.now() / kNsPerMs);
  ++state.stats.restores;
  ++state.stats.blocks_restoring;
  ++state.stats.hits_disk;
}

// Keys that follow each other are one group: they were laid out together, as a rule.
std::uint32_t begin(StoreState& state, const Plan& plan, std::span<const TakenSlot> slots,
                    TimeNs deadline_ns) {
  Restore of{.deadline_ns = deadline_ns, .group = state.disk->restores.next_group++};
  std::size_t used = 0;
  std::uint32_t counted = 0;
  for (; counted < plan.leading; ++counted) {
    const BlockId id = state.scratch.blocks[counted];
    if (state.blocks[id].state != BlockState::kCold) continue;
    if (used == slots.size()) break;
    begin_one(state, id, slots[used++], of);
  }
  return counted;
}

std::span<const TakenSlot> take_slots(StoreState& state, Tenant& tenant, std::uint32_t slot_class,
                                      std::uint32_t count) {
  std::vector<TakenSlot>& slots = state.scratch.taken.slots;
  slots.clear();
  const DiskTier& disk = *state.disk;
  if (count == 0 || disk.life != DiskTier::Life::kReady) return {};
  slots_take_own(state, tenant, slot_class, std::min(count, disk.restores.room()), slots);
  return slots;
}

}  // namespace

void restore_start(const Command& command, std::span<const Key> keys) {
  StoreState& state = command.state;
  Tenant& tenant = state.tenant_of(command.session);
  const SpaceId space = command.submission.space;
  const Plan plan = look(state, tenant.id, space, keys);
  std::uint32_t counted = plan.leading;
  if (plan.cold > 0) {
    const auto slots = take_slots(state, tenant, state.space(tenant, space)->slot_class, plan.cold);
    const TimeNs deadline = command.submission.deadline_ns;
    counted = begin(state, plan, slots, deadline == 0 ? kNever : deadline);
  }
  for (const BlockId id : state.scratch.blocks)
    state.blocks[id].flags &= static_cast<std::uint16_t>(~kBlockWanted);
  if (counted > 0) access_touch_run(state, state.scratch.blocks[counted - 1], counted, false);
  const bool is_short = counted < plan.leading;
  command.answer(is_short ? Code::kNoSpace : Code::kOk, counted, 0,
                 is_short ? Cause::kTierFull : Cause::kNone);
}

}  // namespace kvtier
