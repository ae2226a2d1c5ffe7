#include "daemon/index/key_index.h"

#include <algorithm>
#include <libcuckoo/cuckoohash_map.hh>
#include <new>

#include "libkvclient/base/fault_point.h"
#include "libkvclient/base/prng.h"

namespace kvtier {
namespace {

// Three words and the block's id make an entry of 16 bytes.
struct Fingerprint {
  std::uint32_t low;
  std::uint32_t middle;
  std::uint32_t high;
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

// All words of a fingerprint are mixed already: any of them serves as the hash.
struct FingerprintHash {
  std::size_t operator()(const Fingerprint& f) const { return (std::uint64_t{f.middle} << 32) | f.low; }
};

Fingerprint fingerprint(std::uint64_t seed, NamespaceId tenant, SpaceId space, const Key& key) {
  const std::uint64_t scope = (std::uint64_t{index_of(tenant)} << 32) | static_cast<std::uint32_t>(space);
  std::uint64_t low = mix64(seed ^ scope);
  std::uint64_t high = mix64(low ^ 0x9e3779b97f4a7c15ULL);
  for (const std::uint64_t word : key.words) {
    low = mix64(low ^ word);
    high = mix64(high + word * 0xd6e8feb86659fd93ULL);
  }
  return {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
          static_cast<std::uint32_t>(high)};
}

// Wide buckets, because the library has a lock of a cache line for each bucket (up to 65,536).
constexpr std::size_t kSlotsPerBucket = 8;
constexpr std::uint64_t kLocksMax = 1U << 16;
constexpr std::uint64_t kLockBytes = 64;
constexpr std::size_t kCapacityMin = 1024;
constexpr double kLoadMax = 0.90;  // above it a cuckoo table spends its time moving entries

}  // namespace

struct KeyIndex::Table {
  explicit Table(std::uint64_t capacity) : map(capacity) { map.maximum_hashpower(map.hashpower()); }

  void take_all(Table& from) {
    const auto entries = from.map.lock_table();
    for (const auto& [key, block] : entries) map.insert(key, block);
  }

  libcuckoo::cuckoohash_map<Fingerprint, std::uint32_t, FingerprintHash, std::equal_to<Fingerprint>,
                            std::allocator<std::pair<const Fingerprint, std::uint32_t>>, kSlotsPerBucket>
      map;
};

KeyIndex::KeyIndex(std::uint64_t seed) : seed_(seed), table_(std::make_unique<Table>(kCapacityMin)) {}
KeyIndex::~KeyIndex() = default;

std::shared_lock<std::shared_mutex> KeyIndex::hold() const {
  // relaxed: only who goes first depends on it; the mutex orders.
  while (is_growing_.load(std::memory_order_relaxed)) is_growing_.wait(true, std::memory_order_relaxed);
  return std::shared_lock(growth_);
}

Status KeyIndex::reserve(std::uint64_t count) {
  const auto needed = static_cast<std::uint64_t>(static_cast<double>(count) / kLoadMax) + 1;
  // The only writer is the only one who changes the capacity.
  if (needed <= table_->map.capacity()) return Status::ok();
  is_growing_.store(true, std::memory_order_relaxed);
  Status status = grow(needed);
  is_growing_.store(false, std::memory_order_relaxed);
  is_growing_.notify_all();
  if (status.is_ok()) return status;
  return status.while_doing("grow the key index to " + std::to_string(count) + " blocks");
}

// A new table instead of the library's own growth, which crashes beside readers and keeps the locks of every size that
// a table ever had.
Status KeyIndex::grow(std::uint64_t capacity) {
  const std::unique_lock lock(growth_);
  try {
    auto larger = std::make_unique<Table>(capacity);
    larger->take_all(*table_);
    table_ = std::move(larger);
    return Status::ok();
  } catch (const std::exception& error) {
    return {Code::kNoSpace, error.what()};
  }
}

BlockId KeyIndex::find(NamespaceId tenant, SpaceId space, const Key& key) const {
  const auto lock = hold();
  std::uint32_t block = index_of(BlockId::kNone);
  table_->map.find(fingerprint(seed_, tenant, space, key), block);
  return BlockId{block};
}

Code KeyIndex::insert(NamespaceId tenant, SpaceId space, const Key& key, BlockId block) {
  if (KV_FAULT("index.insert") == Fault::kFail) return Code::kNoSpace;
  const auto lock = hold();
  try {
    return table_->map.insert(fingerprint(seed_, tenant, space, key), index_of(block)) ? Code::kOk
                                                                                       : Code::kExists;
  } catch (const std::exception&) {
    return Code::kNoSpace;  // maximum_hashpower_exceeded, as a rule: the block is not cached
  }
}

bool KeyIndex::erase(NamespaceId tenant, SpaceId space, const Key& key) {
  const auto lock = hold();
  return table_->map.erase(fingerprint(seed_, tenant, space, key));
}

std::uint64_t KeyIndex::size() const {
  const auto lock = hold();
  return table_->map.size();
}

std::uint64_t KeyIndex::bytes_resident() const {
  const auto lock = hold();
  // A bucket: an entry, a partial hash and an occupancy flag a slot.
  constexpr std::size_t kBucketBytes =
      kSlotsPerBucket * (sizeof(std::pair<const Fingerprint, std::uint32_t>) + 2);
  const std::uint64_t buckets = table_->map.bucket_count();
  return buckets * kBucketBytes + std::min(buckets, kLocksMax) * kLockBytes;
}

}  // namespace kvtier
