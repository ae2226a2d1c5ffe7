#pragma once
// The daemon's key index: (namespace, space, key) -> block. Adapter of libcuckoo, whose exceptions end here.
//
// Entries hold a 96-bit fingerprint instead of the 32-byte key: mixed with a seed drawn at start, so that
// neither regular keys nor a client that picks its keys can crowd a bucket. The block record decides whether
// a fingerprint's match is the key; a true collision of two keys makes the second one uncacheable, never
// wrong.
//
// It is cut into parts by the fingerprint, so that growth is work in steps: one part at a time is made anew, larger
// (about 8 ms at a million entries), while nobody reads; never by the library itself, whose growth crashes beside
// readers in 0.3.1. Threads: the conductor writes, reserves and grows; disk agents and admin may read beside it.

#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "daemon/model/ids.h"
#include "libkvclient/base/result.h"
#include "libkvclient/wire/types.h"

namespace kvtier {

inline constexpr std::uint32_t kIndexParts = 32;

class KeyIndex {
 public:
  explicit KeyIndex(std::uint64_t seed);
  ~KeyIndex();
  KeyIndex(const KeyIndex&) = delete;
  KeyIndex& operator=(const KeyIndex&) = delete;

  /// Room for `count` entries in all is wanted: grow_step() makes it, and until it has, an insert that finds its part
  /// full. kNoSpace: more than there are block ids.
  Status reserve(std::uint64_t count);
  /// Makes one part larger. False: there was nothing to do, or no memory (an insert says so when it is in need).
  bool grow_step();
  [[nodiscard]] bool wants_growth() const { return next_part_ < kIndexParts; }

  [[nodiscard]] BlockId find(NamespaceId tenant, SpaceId space, const Key& key) const;
  /// kExists when the fingerprint is taken; kNoSpace beyond what was reserved, and without memory.
  Code insert(NamespaceId tenant, SpaceId space, const Key& key, BlockId block);
  bool erase(NamespaceId tenant, SpaceId space, const Key& key);

  [[nodiscard]] std::uint64_t size() const;
  [[nodiscard]] std::uint64_t bytes_resident() const;

 private:
  struct Part;
  /// False: it has the capacity already, or there is no memory.
  bool grow(Part& part, std::uint64_t capacity);
  [[nodiscard]] std::uint64_t room_for_more(const Part& part) const;
  /// Shared by every call but growth. A reader that comes while growth waits lets it go first: readers that overlap
  /// without end would keep it out for ever.
  [[nodiscard]] std::shared_lock<std::shared_mutex> hold() const;

  const std::uint64_t seed_;
  mutable std::shared_mutex growth_;  // exclusive while a part is made anew
  std::atomic<bool> is_growing_ = false;
  std::uint64_t part_capacity_ = 0;        ///< what each is to have
  std::uint32_t next_part_ = kIndexParts;  ///< the first that grow_step has not looked at since
  std::vector<Part> parts_;
};

}  // namespace kvtier
