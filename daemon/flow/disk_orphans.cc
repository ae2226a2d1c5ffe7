#include "daemon/flow/disk_orphans.h"

#include <algorithm>
#include <bit>

#include "libkvclient/base/check.h"
#include "libkvclient/base/prng.h"

namespace kvtier {
namespace {

constexpr std::uint32_t kBucketsMax = 1U << 20;

BlockId next_of(const BlockRecord& record) {
  return BlockId{record.slot.bits};
}
void set_next(BlockRecord& record, BlockId next) {
  record.slot.bits = index_of(next);
}

}  // namespace

DiskOrphans::DiskOrphans(std::uint32_t blocks_max, std::uint64_t seed)
    : seed_(seed), buckets_(std::bit_ceil(std::clamp(blocks_max, 1U, kBucketsMax)), BlockId::kNone) {}

std::uint64_t DiskOrphans::hash(const BlockRecord& scope, const Key& parent) const {
  std::uint64_t mixed =
      mix64(seed_ ^ (std::uint64_t{scope.tenant} << 32 | static_cast<std::uint32_t>(scope.space)));
  for (const std::uint64_t word : parent.words) mixed = mix64(mixed ^ word);
  return mixed;
}

void DiskOrphans::add(BlockTable& blocks, BlockId id, const Key& parent) {
  BlockRecord& record = blocks[id];
  KV_CHECK(record.state == BlockState::kCold && (record.flags & (kBlockOrphan | kBlockSummed)) == 0,
           "an orphan is cold, and in one list");
  record.flags |= kBlockOrphan;
  record.checksum = hash(record, parent);
  BlockId& first = bucket_of(record.checksum);
  set_next(record, first);
  first = id;
  ++size_;
}

void DiskOrphans::remove(BlockTable& blocks, BlockId id) {
  BlockRecord& record = blocks[id];
  if ((record.flags & kBlockOrphan) == 0) return;
  BlockId& first = bucket_of(record.checksum);
  if (first == id) {
    first = next_of(record);
  } else {
    BlockId before = first;
    while (next_of(blocks[before]) != id) before = next_of(blocks[before]);
    set_next(blocks[before], next_of(record));
  }
  record.flags &= static_cast<std::uint16_t>(~kBlockOrphan);
  record.slot = {};
  record.checksum = 0;
  --size_;
}

BlockId DiskOrphans::take_child_of(BlockTable& blocks, BlockId parent) {
  if (size_ == 0) return BlockId::kNone;
  const BlockRecord& of = blocks[parent];
  const std::uint64_t wanted = hash(of, of.key);
  for (BlockId id = bucket_of(wanted); id != BlockId::kNone; id = next_of(blocks[id])) {
    const BlockRecord& record = blocks[id];
    if (record.checksum != wanted || record.tenant != of.tenant || record.space != of.space) continue;
    remove(blocks, id);
    return id;
  }
  return BlockId::kNone;
}

}  // namespace kvtier
