#pragma once
// Lets the service thread know when nobody looks at an old view any more, for two uncontended atomics a call
// of the reader. Sleepable RCU with direct counters: a reader counts itself into the current parity of its
// thread's shard; the writer publishes the new view, then waits for each parity in turn to be empty while
// newcomers use the other.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kvtier::client {

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
  std::atomic<std::uint32_t> inside[2] = {};
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

  unsigned enter(ReaderShard& shard) {
    const unsigned parity = parity_.load(std::memory_order_relaxed) & 1;
    // seq_cst: before the reader's load of the view (seq_cst) in the one order that the writer's store of the
    // view and its look at this counter are in: either the reader gets the new view or the writer sees the
    // reader.
    shard.inside[parity].fetch_add(1, std::memory_order_seq_cst);
    return parity;
  }
  static void leave(ReaderShard& shard, unsigned parity) {
    // release: all that was read through the view is before the count that lets the writer unmap it.
    shard.inside[parity].fetch_sub(1, std::memory_order_release);
  }

  /// Returns when every reader that may have loaded an earlier view has left. One writer at a time.
  void wait_for_readers();
  [[nodiscard]] std::uint64_t total(Count what) const;

 private:
  static unsigned thread_number();
  void wait_for_parity(unsigned parity);

  std::atomic<unsigned> parity_{0};
  std::array<ReaderShard, kShards> shards_;
};

}  // namespace kvtier::client
