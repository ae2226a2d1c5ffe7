#pragma once
// Whether a key that is pending is so by an earlier request of the same call: the daemon knows requests, not calls, and
// takes that for another client's.

#include <array>
#include <cstdint>
#include <set>
#include <span>

#include "kvclient/kvclient.h"
#include "libkvclient/wire/types.h"

namespace kvtier::client {

/// Of one call of kvc_reserve; looks at what it granted only where a later request finds something pending.
class EarlierGrants {
 public:
  EarlierGrants(std::span<const Key> keys, std::span<const kvc_slot> slots) : keys_(keys), slots_(slots) {}

  /// `end`: the first key of the request that asks.
  [[nodiscard]] bool has(const Key& key, std::size_t end) {
    for (; next_ < end; ++next_) {
      if (slots_[next_].code == KVC_OK) granted_.insert(keys_[next_].words);
    }
    return granted_.contains(key.words);
  }

 private:
  const std::span<const Key> keys_;
  const std::span<const kvc_slot> slots_;
  std::size_t next_ = 0;
  std::set<std::array<std::uint64_t, 4>> granted_;
};

}  // namespace kvtier::client
