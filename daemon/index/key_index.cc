#include "daemon/index/key_index.h"

#include <algorithm>
#include <cmath>
#include <libcuckoo/cuckoohash_map.hh>
#include <limits>

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
// Of the words that the parts' own hash does not use.
std::uint32_t part_of(const Fingerprint& name) {
  return name.high % kIndexParts;
}

constexpr std::size_t kSlotsPerBucket = 8;
constexpr std::uint64_t kLocksMax = 1U << 16;
constexpr std::uint64_t kLockBytes = 64;
constexpr std::size_t kCapacityMin = 16;  // of a part
constexpr double kLoadMax = 0.90;         // above it a cuckoo table spends its time moving entries

}  // namespace

struct KeyIndex::Part {
  using Map =
      libcuckoo::cuckoohash_map<Fingerprint, std::uint32_t, FingerprintHash, std::equal_to<Fingerprint>,
                                std::allocator<std::pair<const Fingerprint, std::uint32_t>>, kSlotsPerBucket>;
  static std::unique_ptr<Map> make(std::uint64_t capacity) {
    auto map = std::make_unique<Map>(capacity);
    map->maximum_hashpower(map->hashpower());
    return map;
  }

  // False: no memory, and it is as it was.
  bool make_anew(std::uint64_t capacity) {
    try {
      std::unique_ptr<Map> larger = make(capacity);
      copy_to(*larger);
      map = std::move(larger);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }
  Code insert(const Fingerprint& name, BlockId block) const {
    try {
      return map->insert(name, index_of(block)) ? Code::kOk : Code::kExists;
    } catch (const std::exception&) {
      return Code::kNoSpace;  // maximum_hashpower_exceeded, as a rule
    }
  }

  std::unique_ptr<Map> map = make(kCapacityMin);

 private:
  void copy_to(Map& larger) const {
    const auto entries = map->lock_table();  // nobody is beside us
    for (const auto& [name, block] : entries) larger.insert(name, block);
  }
};

KeyIndex::KeyIndex(std::uint64_t seed) : seed_(seed), parts_(kIndexParts) {}
KeyIndex::~KeyIndex() = default;

std::shared_lock<std::shared_mutex> KeyIndex::hold() const {
  // relaxed: only who goes first depends on it; the mutex orders.
  while (is_growing_.load(std::memory_order_relaxed)) is_growing_.wait(true, std::memory_order_relaxed);
  return std::shared_lock(growth_);
}

Status KeyIndex::reserve(std::uint64_t count) {
  if (count > std::numeric_limits<std::uint32_t>::max())
    return {Code::kNoSpace, "the key index cannot have " + std::to_string(count) + " blocks"};
  // Keys fall into the parts by chance: five deviations more than the mean, so that none is full before its time.
  const double mean = static_cast<double>(count) / kIndexParts;
  const double each = mean + 5 * std::sqrt(mean);
  const auto capacity = static_cast<std::uint64_t>(each / kLoadMax) + 1;
  if (capacity <= part_capacity_) return Status::ok();
  part_capacity_ = capacity;
  next_part_ = 0;
  return Status::ok();
}

bool KeyIndex::grow_step() {
  while (next_part_ < kIndexParts) {
    if (grow(parts_[next_part_++], part_capacity_)) return true;
  }
  return false;
}

// A new table instead of the library's own growth, which crashes beside readers and keeps the locks of every size that
// a table ever had.
bool KeyIndex::grow(Part& part, std::uint64_t capacity) {
  is_growing_.store(true, std::memory_order_relaxed);
  bool has_grown = false;
  {
    const std::unique_lock lock(growth_);
    has_grown = part.map->capacity() < capacity && part.make_anew(capacity);
  }
  is_growing_.store(false, std::memory_order_relaxed);
  is_growing_.notify_all();
  return has_grown;
}

// What a part that is full may become: what it is to have and has not yet, or, when more than its share of the keys
// fall into it, twice that.
std::uint64_t KeyIndex::room_for_more(const Part& part) const {
  const auto lock = hold();
  return part.map->capacity() < part_capacity_ ? part_capacity_ : 2 * part_capacity_;
}

BlockId KeyIndex::find(NamespaceId tenant, SpaceId space, const Key& key) const {
  const Fingerprint name = fingerprint(seed_, tenant, space, key);
  const auto lock = hold();
  std::uint32_t block = index_of(BlockId::kNone);
  parts_[part_of(name)].map->find(name, block);
  return BlockId{block};
}

Code KeyIndex::insert(NamespaceId tenant, SpaceId space, const Key& key, BlockId block) {
  if (KV_FAULT("index.insert") == Fault::kFail) return Code::kNoSpace;
  const Fingerprint name = fingerprint(seed_, tenant, space, key);
  Part& part = parts_[part_of(name)];
  const auto insert_now = [&] {
    const auto lock = hold();
    return part.insert(name, block);
  };
  const Code code = insert_now();
  if (code != Code::kNoSpace) return code;
  (void)grow(part, room_for_more(part));
  return insert_now();
}

bool KeyIndex::erase(NamespaceId tenant, SpaceId space, const Key& key) {
  const Fingerprint name = fingerprint(seed_, tenant, space, key);
  const auto lock = hold();
  return parts_[part_of(name)].map->erase(name);
}

std::uint64_t KeyIndex::size() const {
  const auto lock = hold();
  std::uint64_t count = 0;
  for (const Part& part : parts_) count += part.map->size();
  return count;
}

std::uint64_t KeyIndex::bytes_resident() const {
  const auto lock = hold();
  // A bucket: an entry, a partial hash and an occupancy flag a slot.
  constexpr std::size_t kBucketBytes =
      kSlotsPerBucket * (sizeof(std::pair<const Fingerprint, std::uint32_t>) + 2);
  std::uint64_t bytes = 0;
  for (const Part& part : parts_) {
    const std::uint64_t buckets = part.map->bucket_count();
    bytes += buckets * kBucketBytes + std::min(buckets, kLocksMax) * kLockBytes;
  }
  return bytes;
}

}  // namespace kvtier
