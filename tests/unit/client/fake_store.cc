#include "tests/unit/client/fake_store.h"

#include <algorithm>

#include "libkvclient/base/checksum.h"
#include "libkvclient/base/units.h"

namespace kvtier::test {
namespace {

constexpr std::uint64_t kDirectoryCapacity = 4096;

Key key_of(const FakeStore::BlockKey& key) {
  return Key{key.second};
}

Residency residency_of(const FakeBlock& block) {
  Residency at;
  at.host = {block.slot, block.generation};  // also while it is written, as the real daemon does
  if (!block.is_ready) at.host_flags = kFlagPending;
  return at;
}

}  // namespace

FakeSegment FakeSegment::create(const char* name, std::uint64_t bytes) {
  FakeSegment segment;
  segment.fd = shm_create(name, bytes, {.reserve_pages = false}).value();
  segment.memory = ShmMapping::map(segment.fd.get(), bytes, ShmAccess::kReadWrite).value();
  return segment;
}

FakeStore::FakeStore() {
  for (std::uint32_t i = 0; i < kSlabs; ++i) {
    FakeSlab& slab = slabs.emplace_back();
    slab.data = FakeSegment::create("fake-slab", kSlabBytes);
    slab.words = FakeSegment::create("fake-table", slot_table_bytes(kSlotsMax));
    slab.table = SlotTable({reinterpret_cast<SlotCell*>(slab.words.memory.data()), kSlotsMax}, kSlotsMax);
  }
  directory = FakeSegment::create("fake-directory", DirectoryLayout::bytes_for(kDirectoryCapacity));
  writer_ = DirectoryWriter::create(directory.memory.bytes(), kDirectoryCapacity, 7).value();
}

SpaceId FakeStore::space_of(const Digest& digest, std::uint64_t block_bytes) {
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    if (spaces[i].digest == digest) return SpaceId{static_cast<std::uint32_t>(i + 1)};
  }
  spaces.push_back({digest, block_bytes, round_up(block_bytes, kSlotAlignment)});
  return SpaceId{static_cast<std::uint32_t>(spaces.size())};
}

std::optional<std::pair<SlotRef, Generation>> FakeStore::take_slot(std::uint64_t slot_bytes) {
  for (std::uint32_t i = 0; i < usable_slabs; ++i) {
    FakeSlab& slab = slabs[i];
    if (slab.slot_bytes != 0 && slab.slot_bytes != slot_bytes) continue;
    const auto count = static_cast<std::uint32_t>(std::min(kSlabBytes / slot_bytes, slots_limit));
    for (std::uint32_t slot = 0; slot < count; ++slot) {
      if (slab.table.at(slot).state != SlotState::kFree) continue;
      slab.slot_bytes = slot_bytes;
      return std::pair(SlotRef::of(i, slot), slab.table.begin_write(slot));
    }
  }
  return std::nullopt;
}

ReserveResult FakeStore::reserve(SpaceId space, const Key& key, std::uint64_t session) {
  ReserveResult result{};
  const BlockKey block_key{space, key.words};
  if (const auto at = blocks_.find(block_key); at != blocks_.end()) {
    result.code = at->second.is_ready ? Code::kExists : Code::kPending;
    return result;
  }
  const auto taken = take_slot(spaces[static_cast<std::uint32_t>(space) - 1].slot_bytes);
  if (!taken) {
    result.code = Code::kNoSpace;
    result.cause = no_space_cause;
    return result;
  }
  const FakeBlock block{taken->first, taken->second, false, session, next_number_++};
  blocks_[block_key] = block;
  (void)writer_.insert({space, key, residency_of(block)});
  result.slot = block.slot;
  result.generation = block.generation;
  result.hold = {block.number, static_cast<std::uint32_t>(block.generation)};
  return result;
}

FakeBlock* FakeStore::by_hold(const Hold& hold, std::uint64_t session, BlockKey& key) {
  for (auto& [block_key, block] : blocks_) {
    const bool is_it =
        block.number == hold.block && static_cast<std::uint32_t>(block.generation) == hold.generation_low;
    if (!is_it || block.is_ready || block.writer != session) continue;
    key = block_key;
    return &block;
  }
  return nullptr;
}

void FakeStore::publish(const BlockKey& key, const FakeBlock& block) {
  (void)writer_.update(key.first, key_of(key), residency_of(block));
}

Code FakeStore::commit(const Hold& hold, std::uint64_t session) {
  if (const Code named = name_stocked(hold, session); named != Code::kOk) return named;
  BlockKey key;
  FakeBlock* block = by_hold(hold, session, key);
  if (block == nullptr) return Code::kInvalid;
  (void)slabs[block->slot.slab()].table.publish(block->slot.slot(), block->generation);
  block->is_ready = true;
  block->sum = checksum64(bytes_of(key.first, *block));
  publish(key, *block);
  return Code::kOk;
}

void FakeStore::drop(const BlockKey& key) {
  const FakeBlock block = blocks_.at(key);
  (void)writer_.remove(key.first, key_of(key));
  (void)slabs[block.slot.slab()].table.retire(block.slot.slot());
  blocks_.erase(key);
}

Code FakeStore::abort(const Hold& hold, std::uint64_t session) {
  if (const auto at = stocked_.find(hold.block); at != stocked_.end() && at->second.session == session) {
    drop_stocked(hold.block);
    return Code::kOk;
  }
  BlockKey key;
  if (by_hold(hold, session, key) == nullptr) return Code::kInvalid;
  drop(key);
  return Code::kOk;
}

void FakeStore::abandon(std::uint64_t session) {
  const auto copy = blocks_;
  for (const auto& [key, block] : copy) {
    if (!block.is_ready && block.writer == session) drop(key);
  }
  const auto stocked = stocked_;
  for (const auto& [number, each] : stocked) {
    if (each.session == session) drop_stocked(number);
  }
}

std::uint32_t FakeStore::invalidate(SpaceId space) {
  std::uint32_t count = 0;
  const auto copy = blocks_;
  for (const auto& [key, block] : copy) {
    if ((space != SpaceId::kNone && key.first != space) || !block.is_ready) continue;
    count += evict(key.first, key_of(key), {}) ? 1 : 0;
  }
  return count;
}

bool FakeStore::is_pending(SpaceId space, const Key& key) const {
  const auto at = blocks_.find({space, key.words});
  return at != blocks_.end() && !at->second.is_ready;
}

std::uint32_t FakeStore::writing_count() const {
  std::uint32_t count = 0;
  for (const auto& [key, block] : blocks_) count += block.is_ready ? 0 : 1;
  return count;
}

bool FakeStore::evict(SpaceId space, const Key& key, const std::vector<const PinCell*>& pins) {
  const FakeBlock block = blocks_.at({space, key.words});
  SlotCell& cell = slabs[block.slot.slab()].table.cell(block.slot.slot());
  if (Pins::try_evict(cell, std::span<const PinCell* const>(pins)) != EvictOutcome::kEvicting) return false;
  drop({space, key.words});
  return true;
}

void FakeStore::sums(SpaceId space, std::span<SumEntry> entries) const {
  for (SumEntry& entry : entries) {
    entry.code = Code::kNotFound;
    for (const auto& [key, block] : blocks_) {
      const bool is_it = key.first == space && block.is_ready && block.slot == entry.slot &&
                         block.generation == entry.generation;
      if (!is_it) continue;
      entry.code = has_no_sums ? Code::kPending : Code::kOk;
      entry.sum = has_no_sums ? 0 : block.sum;
    }
  }
}

void FakeStore::move_directory() {
  FakeSegment next =
      FakeSegment::create("fake-directory", DirectoryLayout::bytes_for(2 * kDirectoryCapacity));
  DirectoryWriter fresh = DirectoryWriter::create(next.memory.bytes(), 2 * kDirectoryCapacity, 8).value();
  for (const auto& [key, block] : blocks_) {
    (void)fresh.insert({key.first, key_of(key), residency_of(block)});
  }
  writer_.mark_moved();
  directory = std::move(next);
  writer_ = std::move(fresh);
}

}  // namespace kvtier::test
