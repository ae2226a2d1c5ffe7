#include "daemon/flow/stock.h"

#include <algorithm>

#include "daemon/flow/access.h"
#include "daemon/flow/cool.h"
#include "daemon/flow/place.h"
#include "daemon/flow/records.h"
#include "daemon/flow/slots.h"
#include "daemon/flow/unpublish.h"

namespace kvtier {
namespace {

// All stocks of a class together: at most this part of its slots, and one in a small class.
constexpr std::uint64_t kStockPart = 8;

std::uint32_t offered_count(StoreState& state, const Session& session, SpaceId space) {
  const Stock stock = stock_of(session);
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < kStockEntries; ++i) {
    const BlockId id = session.stock[i];
    const bool is_of_space = id != BlockId::kNone && state.blocks[id].space == space;
    count += is_of_space && stock.is_offered(i, space) ? 1 : 0;
  }
  return count;
}

std::uint64_t room(const SlotClass& slot_class) {
  const std::uint64_t most = std::max<std::uint64_t>(slot_class.slots / kStockPart, 1);
  return most - std::min(most, slot_class.slots_stocked);
}

// Published last: the offer. A daemon that dies before it leaves a record whose entry is empty.
bool grant(StoreState& state, Session& session, SpaceId space, std::uint32_t entry, const TakenSlot& taken) {
  const BlockId id = record_take(state, BlockState::kStocked);
  if (id == BlockId::kNone) return false;
  BlockRecord& record = state.blocks[id];
  record.space = space;
  record.tenant = static_cast<std::uint16_t>(index_of(session.tenant));
  record.slot = taken.slot;
  record.generation = taken.generation;
  record.writer = static_cast<std::uint16_t>(index_of(session.index));
  record.stock_entry = static_cast<std::uint8_t>(entry);
  Slab& slab = state.slab_of(taken.slot);
  slab.set_block(taken.slot.slot(), id);
  ++slab.stocked_count;
  writing_link(state, session, id);
  ++state.space(state.tenant_of(session), space)->blocks;
  ++state.class_of(record).slots_stocked;
  ++state.stats.slots_stocked;
  ++state.stats.stock_grants;
  session.stock[entry] = id;
  ++session.stocked_count;
  stock_of(session).offer(
      entry, space,
      {taken.slot, 0, {index_of(id), static_cast<std::uint32_t>(taken.generation)}, taken.generation});
  return true;
}

// As a reserve with claim does. A prefix that was touched in this millisecond is left: its blocks come one by one.
void touch_prefix(StoreState& state, BlockId parent) {
  if (parent == BlockId::kNone) return;
  if (state.blocks[parent].access_ms == static_cast<std::uint32_t>(state.now() / kNsPerMs)) return;
  access_touch_run(state, parent, kTouchAncestorsMax, false);
}

std::uint32_t take_back_if(StoreState& state, Session& session, auto&& is_wanted) {
  if (session.stocked_count == 0) return 0;
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < kStockEntries; ++i) {
    const BlockId id = session.stock[i];
    if (id == BlockId::kNone || !is_wanted(state.blocks[id])) continue;
    if (!stock_of(session).take_back(i, state.blocks[id].space)) continue;
    writing_give_up(state, session, id);
    ++count;
  }
  state.stats.stock_returns += count;
  return count;
}

// A space that is not used any more must not keep the table from the others: up to half of it is made free of their
// offers.
void make_entries(StoreState& state, Session& session, SpaceId space, std::uint32_t offered,
                  std::uint32_t wanted) {
  constexpr std::uint32_t kHalf = kStockEntries / 2;
  const std::uint32_t due = std::min(wanted, kHalf - std::min(kHalf, offered));
  const std::uint32_t free = kStockEntries - session.stocked_count;
  std::uint32_t left = due - std::min(due, free);
  (void)take_back_if(state, session, [&](const BlockRecord& record) {
    if (record.space == space || left == 0) return false;
    --left;
    return true;
  });
}

}  // namespace

void stock_refill(StoreState& state, Session& session, SpaceId space, std::uint32_t count) {
  Tenant& tenant = state.tenant_of(session);
  const std::uint32_t slot_class = state.space(tenant, space)->slot_class;
  const std::uint32_t offered = offered_count(state, session, space);
  std::uint32_t wanted = count - std::min(count, offered);
  make_entries(state, session, space, offered, wanted);
  wanted = std::min(wanted, kStockEntries - session.stocked_count);
  wanted = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, room(tenant.classes[slot_class])));
  if (wanted == 0) return;
  const SlotOutcome& taken = slots_take(state, {.session = &session,
                                                .tenant = &tenant,
                                                .slot_class = slot_class,
                                                .count = wanted,
                                                .is_for_stock = true});
  std::uint32_t entry = 0;
  for (const TakenSlot& each : taken.slots) {
    while (session.stock[entry] != BlockId::kNone) ++entry;
    if (!grant(state, session, space, entry, each)) slots_return(state, each);
  }
}

Code stock_name(StoreState& state, Session& session, BlockId id) {
  BlockRecord& record = state.blocks[id];
  const StockName name = stock_of(session).name(record.stock_entry);
  const auto find = [&](const Key& key) {
    return key.is_zero() ? BlockId::kNone : state.index->find(session.tenant, record.space, key);
  };
  BlockId other = find(name.key);
  if (other != BlockId::kNone && (state.blocks[other].flags & kBlockDoubtful) != 0) {
    cold_drop(state, other);  // could not be read: it makes room
    other = BlockId::kNone;
  }
  const BlockId parent = find(name.parent);
  touch_prefix(state, parent);
  if (other != BlockId::kNone) place_orphan(state, other, parent);
  if (other != BlockId::kNone || name.key.is_zero()) {
    writing_give_up(state, session, id);
    ++state.stats.commits_refused;
    if (name.key.is_zero()) return Code::kInvalid;
    ++state.stats.stock_races_lost;
    const BlockState its = state.blocks[other].state;
    return its == BlockState::kWriting || its == BlockState::kRestoring ? Code::kPending : Code::kExists;
  }
  const std::uint32_t entry = record.stock_entry;
  record.key = name.key;
  stock_forget(state, session, id);
  state.blocks.set_state(id, BlockState::kWriting);
  stock_of(session).clear(entry);
  if (place_block(state, id, parent) == Code::kOk) return Code::kOk;
  writing_unlink(state, session, id);
  --state.slab_of(record.slot).writing_count;
  block_free(state, id);
  ++state.stats.commits_refused;
  return Code::kNoSpace;
}

std::uint32_t stock_take_back(StoreState& state, Tenant& tenant) {
  std::uint32_t count = 0;
  for (const SessionIndex index : tenant.sessions)
    count += take_back_if(state, *state.session(index), [](const BlockRecord&) { return true; });
  return count;
}

bool stock_leaves_slab(StoreState& state, Slab& slab) {
  if (slab.writing_count == 0) return true;
  if (slab.stocked_count < slab.writing_count) return false;
  (void)take_back_if(state, *state.session(slab.writer),
                     [&](const BlockRecord& record) { return record.slot.slab() == index_of(slab.index()); });
  return slab.writing_count == 0;
}

// Quarantined before the entry is cleared: an empty entry says that nobody has the slot.
void stock_withdraw(StoreState& state, Session& session, BlockId id) {
  BlockRecord& record = state.blocks[id];
  const std::uint32_t entry = record.stock_entry;
  if (stock_of(session).take_back(entry, record.space)) return writing_give_up(state, session, id);
  KV_CHECK(state.slab_of(record.slot).table().quarantine(record.slot.slot()),
           "a stocked block has a writing slot");
  stock_forget(state, session, id);
  state.blocks.set_state(id, BlockState::kQuarantined);
  ++state.stats.slots_quarantined;
  stock_of(session).clear(entry);
}

void stock_forget(StoreState& state, Session& session, BlockId id) {
  const BlockRecord& record = state.blocks[id];
  session.stock[record.stock_entry] = BlockId::kNone;
  --session.stocked_count;
  --state.slab_of(record.slot).stocked_count;
  --state.class_of(record).slots_stocked;
  --state.stats.slots_stocked;
}

}  // namespace kvtier
