#include "libkvclient/src/readers.h"

#include <chrono>
#include <thread>

namespace kvtier::client {

unsigned Readers::thread_number() {
  static std::atomic<unsigned> threads_count{0};
  thread_local const unsigned number = threads_count.fetch_add(1, std::memory_order_relaxed);
  return number;
}

void Readers::wait_for_readers() {
  // Twice: a reader may have read the parity before the first flip and count itself in after the first wait.
  for (int round = 0; round < 2; ++round) {
    const unsigned parity = parity_.load(std::memory_order_relaxed) & 1;
    parity_.store(parity ^ 1, std::memory_order_seq_cst);
    wait_for_parity(parity);
  }
}

void Readers::wait_for_parity(unsigned parity) {
  for (ReaderShard& shard : shards_) {
    // seq_cst: see enter.
    for (int spin = 0; shard.inside[parity].load(std::memory_order_seq_cst) != 0; ++spin) {
      if (spin < 64) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    }
  }
}

std::uint64_t Readers::total(Count what) const {
  std::uint64_t sum = 0;
  for (const ReaderShard& shard : shards_) {
    sum += shard.counts[static_cast<std::size_t>(what)].load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace kvtier::client
