// The fake daemon's disk: bytes in a map.

#include "libkvclient/base/check.h"
#include "tests/unit/client/fake_store.h"

namespace kvtier::test {
namespace {

Residency on_disk_only() {
  Residency at;
  at.host_flags = kFlagOnDisk;
  return at;
}

}  // namespace

void FakeStore::cool(SpaceId space, const Key& key) {
  const BlockKey block_key{space, key.words};
  const FakeBlock block = blocks_.at(block_key);
  const std::span<std::byte> bytes = bytes_of(space, block);
  disk_[block_key] = {bytes.begin(), bytes.end()};
  SlotTable& table = slabs[block.slot.slab()].table;
  KV_CHECK(Pins::try_evict(table.cell(block.slot.slot()), [] { return false; }) == EvictOutcome::kEvicting &&
               table.retire(block.slot.slot()),
           "a block that is cooled was ready");
  blocks_.erase(block_key);
  (void)writer_.update(space, key, on_disk_only());
}

Code FakeStore::restore(SpaceId space, const Key& key) {
  ++restores_asked;
  const BlockKey block_key{space, key.words};
  if (blocks_.contains(block_key)) return Code::kOk;
  if (!disk_.contains(block_key)) return Code::kNotFound;
  const auto taken = take_slot(spaces[static_cast<std::uint32_t>(space) - 1].slot_bytes);
  if (!taken) return Code::kNoSpace;
  blocks_[block_key] = {taken->first, taken->second, false, kDiskWriter, next_number_++};
  publish(block_key, blocks_[block_key]);
  return Code::kOk;
}

void FakeStore::end_restores(bool is_ok) {
  for (auto at = blocks_.begin(); at != blocks_.end();) {
    const auto [key, block] = *at++;
    if (block.is_ready || block.writer != kDiskWriter) continue;
    if (!is_ok) {
      disk_.erase(key);
      drop(key);
      continue;
    }
    const std::vector<std::byte>& bytes = disk_.at(key);
    std::copy(bytes.begin(), bytes.end(), bytes_of(key.first, block).begin());
    (void)slabs[block.slot.slab()].table.publish(block.slot.slot(), block.generation);
    blocks_[key].is_ready = true;
    publish(key, blocks_[key]);
  }
}

std::span<std::byte> FakeStore::bytes_of(SpaceId space, const FakeBlock& block) {
  const FakeSpace& of = spaces[static_cast<std::uint32_t>(space) - 1];
  const std::span<std::byte> slab = slabs[block.slot.slab()].data.memory.bytes();
  return slab.subspan(block.slot.slot() * of.slot_bytes, of.block_bytes);
}

}  // namespace kvtier::test
