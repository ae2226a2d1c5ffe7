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
  Grace::wait_for_readers(parity_, [this](unsigned parity) { wait_for_parity(parity); });
}

void Readers::wait_for_parity(unsigned parity) {
  for (ReaderShard& shard : shards_) {
    for (int spin = 0; SharedMemory::load(shard.inside[parity], at<Site::kGraceWait>) != 0; ++spin) {
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
