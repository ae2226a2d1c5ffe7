#pragma once
// The daemon's key index: (namespace, space, key) -> block. Adapter of libcuckoo, whose exceptions end here.
//
// Entries hold a 96-bit fingerprint instead of the 32-byte key: mixed with a seed drawn at start, so that
// neither regular keys nor a client that picks its keys can crowd a bucket. The block record decides whether
// a fingerprint's match is the key; a true collision of two keys makes the second one uncacheable, never
// wrong.
//
// The table never grows by itself: in libcuckoo 0.3.1 a growth beside a reader may crash, and beside a second
// writer as well. It grows in reserve() alone, while nobody reads. Threads: the conductor writes and
// reserves; disk agents and admin may read beside it.

#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>

#include "daemon/model/ids.h"
#include "libkvclient/base/result.h"
#include "libkvclient/wire/types.h"

namespace kvtier {

class KeyIndex {
 public:
  explicit KeyIndex(std::uint64_t seed);
  ~KeyIndex();
  KeyIndex(const KeyIndex&) = delete;
  KeyIndex& operator=(const KeyIndex&) = delete;

  /// Makes room for `count` entries in all. Not on the request path: it may rehash, and readers wait while it
  /// does. kNoSpace: no memory.
  Status reserve(std::uint64_t count);

  [[nodiscard]] BlockId find(NamespaceId tenant, SpaceId space, const Key& key) const;
  /// kExists when the fingerprint is taken; kNoSpace beyond what was reserved.
  Code insert(NamespaceId tenant, SpaceId space, const Key& key, BlockId block);
  bool erase(NamespaceId tenant, SpaceId space, const Key& key);

  [[nodiscard]] std::uint64_t size() const;
  [[nodiscard]] std::uint64_t bytes_resident() const;

 private:
  struct Table;
  Status grow(std::uint64_t capacity);
  /// Shared by every call but reserve(). A reader that comes while reserve() waits lets it go first: readers
  /// that overlap without end would keep it out for ever.
  [[nodiscard]] std::shared_lock<std::shared_mutex> hold() const;

  const std::uint64_t seed_;
  mutable std::shared_mutex growth_;  // exclusive while reserve() rehashes
  std::atomic<bool> is_growing_ = false;
  std::unique_ptr<Table> table_;
};

}  // namespace kvtier
