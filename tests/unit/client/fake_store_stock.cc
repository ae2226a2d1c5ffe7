// The stocks of the fake daemon.

#include "tests/unit/client/fake_store.h"

namespace kvtier::test {

void FakeStore::refill(SpaceId space, std::uint32_t count, Stock table, std::uint64_t session) {
  for (std::uint32_t entry = 0; entry < kStockEntries && table.offered_count(space) < count; ++entry) {
    if (!table.is_empty(entry)) continue;
    const auto taken = take_slot(spaces[static_cast<std::uint32_t>(space) - 1].slot_bytes);
    if (!taken) return;
    const std::uint32_t number = next_number_++;
    stocked_[number] = {taken->first, taken->second, space, session, table, entry};
    table.offer(entry, space,
                {taken->first, 0, {number, static_cast<std::uint32_t>(taken->second)}, taken->second});
  }
}

std::uint32_t FakeStore::take_back() {
  std::uint32_t count = 0;
  const auto copy = stocked_;
  for (auto [number, each] : copy) {
    if (!each.table.take_back(each.entry, each.space)) continue;
    drop_stocked(number);
    ++count;
  }
  return count;
}

// kOk also for a hold that is none of a stock.
Code FakeStore::name_stocked(const Hold& hold, std::uint64_t session) {
  const auto at = stocked_.find(hold.block);
  if (at == stocked_.end() || at->second.session != session) return Code::kOk;
  const FakeStocked stocked = at->second;
  const StockName name = stocked.table.name(stocked.entry);
  const BlockKey key{stocked.space, name.key.words};
  if (const auto other = blocks_.find(key); other != blocks_.end()) {
    drop_stocked(hold.block);
    return other->second.is_ready ? Code::kExists : Code::kPending;
  }
  const FakeBlock block{stocked.slot, stocked.generation, false, session, hold.block};
  blocks_[key] = block;
  Residency at_once;
  at_once.host = {block.slot, block.generation};
  at_once.host_flags = kFlagPending;
  (void)writer_.insert({stocked.space, name.key, at_once});
  stocked_.erase(hold.block);
  Stock(stocked.table).clear(stocked.entry);
  return Code::kOk;
}

void FakeStore::drop_stocked(std::uint32_t number) {
  FakeStocked stocked = stocked_.at(number);
  (void)slabs[stocked.slot.slab()].table.retire(stocked.slot.slot());
  stocked.table.clear(stocked.entry);
  stocked_.erase(number);
}

}  // namespace kvtier::test
