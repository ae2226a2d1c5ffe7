#pragma once
// Lets the service thread know when nobody looks at an old view any more, for two uncontended atomics a call
// of the reader. The protocol, and why it suffices: grace_period.h.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "libkvclient/src/grace_period.h"

namespace kvtier::client {

using Grace = GraceProtocol<SharedMemory>;

enum class Count : std::uint8_t {
  kMatchCalls,
  kMatchKeys,
  kMatchReady,
  kAcquireCalls,
  kAcquireKeys,
  kAcquireLeased,
  kLeasesBegun,
  kLeasesEnded,
  kUnavailable,
  kCountOfCounts
};

/// Counters of the read path live in the reader's own lines, for they are touched in the same breath.
struct alignas(128) ReaderShard {
  Grace::Count inside[2] = {};
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Count::kCountOfCounts)> counts = {};

  void add(Count what, std::uint64_t value) {
    // relaxed: statistics.
    counts[static_cast<std::size_t>(what)].fetch_add(value, std::memory_order_relaxed);
  }
};

class Readers {
 public:
  static constexpr std::size_t kShards = 16;

  /// The calling thread's shard; threads beyond kShards share.
  ReaderShard& shard() { return shards_[thread_number() % kShards]; }

  unsigned enter(ReaderShard& shard) { return Grace::enter(parity_, shard.inside); }
  static void leave(ReaderShard& shard, unsigned parity) { Grace::leave(shard.inside, parity); }

  /// Returns when every reader that may have loaded an earlier view has left. One writer at a time.
  void wait_for_readers();
  [[nodiscard]] std::uint64_t total(Count what) const;

 private:
  static unsigned thread_number();
  void wait_for_parity(unsigned parity);

  Grace::Count parity_{0};
  std::array<ReaderShard, kShards> shards_;
};

}  // namespace kvtier::client
