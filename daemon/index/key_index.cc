#include "daemon/index/key_index.h"

#include <algorithm>
#include <libcuckoo/cuckoohash_map.hh>
#include <new>

#include "libkvclient/base/fault_point.h"
#include "libkvclient/base/prng.h"

namespace kvtier {
namespace {

struct Fingerprint {
  std::uint64_t low;
  std::uint64_t high;
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

// Both halves of a fingerprint are mixed already: either serves as the hash.
struct FingerprintHash {
  std::size_t operator()(const Fingerprint& f) const { return f.low; }
};

Fingerprint fingerprint(std::uint64_t seed, NamespaceId tenant, SpaceId space, const Key& key) {
  const std::uint64_t scope = (std::uint64_t{index_of(tenant)} << 32) | static_cast<std::uint32_t>(space);
  std::uint64_t low = mix64(seed ^ scope);
  std::uint64_t high = mix64(low ^ 0x9e3779b97f4a7c15ULL);
  for (const std::uint64_t word : key.words) {
    low = mix64(low ^ word);
    high = mix64(high + word * 0xd6e8feb86659fd93ULL);
  }
  return {low, high};
}

constexpr std::size_t kSlotsPerBucket = 4;
constexpr double kLoadMax = 0.90;  // above it a four-slot cuckoo table spends its time moving entries

}  // namespace

struct KeyIndex::Table {
  libcuckoo::cuckoohash_map<Fingerprint, std::uint32_t, FingerprintHash, std::equal_to<Fingerprint>,
                            std::allocator<std::pair<const Fingerprint, std::uint32_t>>, kSlotsPerBucket>
      map{1024};
};

KeyIndex::KeyIndex(std::uint64_t seed) : table_(std::make_unique<Table>()), seed_(seed) {}
KeyIndex::~KeyIndex() = default;

Status KeyIndex::reserve(std::uint64_t count) {
  try {
    const auto needed = static_cast<std::uint64_t>(static_cast<double>(count) / kLoadMax) + 1;
    if (needed > table_->map.capacity()) table_->map.reserve(needed);
    return Status::ok();
  } catch (const std::exception& error) {
    return {Code::kNoSpace,
            "the key index cannot grow to " + std::to_string(count) + " blocks: " + error.what()};
  }
}

BlockId KeyIndex::find(NamespaceId tenant, SpaceId space, const Key& key) const {
  std::uint32_t block = index_of(BlockId::kNone);
  table_->map.find(fingerprint(seed_, tenant, space, key), block);
  return BlockId{block};
}

Code KeyIndex::insert(NamespaceId tenant, SpaceId space, const Key& key, BlockId block) {
  if (KV_FAULT("index.insert") == Fault::kFail) return Code::kNoSpace;
  try {
    return table_->map.insert(fingerprint(seed_, tenant, space, key), index_of(block)) ? Code::kOk
                                                                                       : Code::kExists;
  } catch (const std::exception&) {
    return Code::kNoSpace;  // bad_alloc, load_factor_too_low or maximum_hashpower_exceeded: the block is not
                            // cached
  }
}

bool KeyIndex::erase(NamespaceId tenant, SpaceId space, const Key& key) {
  return table_->map.erase(fingerprint(seed_, tenant, space, key));
}

std::uint64_t KeyIndex::size() const {
  return table_->map.size();
}

std::uint64_t KeyIndex::bytes_resident() const {
  // A bucket: four entries, four partial hashes, four occupancy flags.
  constexpr std::size_t kBucketBytes =
      kSlotsPerBucket * (sizeof(std::pair<const Fingerprint, std::uint32_t>) + 2);
  return table_->map.capacity() / kSlotsPerBucket * kBucketBytes;
}

}  // namespace kvtier
