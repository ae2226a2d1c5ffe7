// STYLE 19: after READY the data path takes no memory. The real conductor and store serve the client library;
// once everything has been used, every turn of the conductor runs in an allocation trap.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "libkvclient/base/checksum.h"
#include "tests/support/allocation_trap.h"
#include "tests/support/in_process_daemon.h"
#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

constexpr std::size_t kBlocks = 32;  ///< of one round; the tier has 256 slots
constexpr int kWarmUpRounds = 40;
constexpr int kRounds = 200;

class DataPathMemory : public ::testing::Test, protected InProcessDaemon<SystemClock, NoFdStore> {
 protected:
  DataPathMemory()
      : InProcessDaemon(
            "default",
            {.host_bytes = 1 << 20, .slab_bytes = 64 << 10, .low_water_blocks = 16, .sessions_max = 4}) {}

  /// One turn of the conductor's thread.
  void turn() {
    const TimeNs now = clock_.now_ns();
    const std::size_t work = conductor_->do_work(now);
    while (const std::optional<ChecksumJob> job = store_->checksum_next()) {
      store_->checksum_done(*job, checksum64(job->bytes));
      if (is_armed_.load()) ++sums_armed_;
    }
    waits_open_.store(store_->stats().waits_open);
    if (work == 0) conductor_->wait(now, now + kNsPerMs);
    ++turns_;
  }

  /// Plays the conductor while clients play `play` on a thread of their own.
  void serve(const std::function<void()>& play) {
    std::atomic<bool> is_over{false};
    std::thread clients([&] {
      play();
      is_over.store(true);
    });
    while (!is_over.load()) {
      if (is_armed_.load()) {
        const AllocationTrap trap;
        turn();
      } else {
        turn();
      }
    }
    clients.join();
  }

  /// Until no turn runs in a trap any more: a client's goodbye may take memory.
  void disarm() {
    is_armed_.store(false);
    const std::uint64_t begun = turns_.load();
    while (turns_.load() < begun + 2) std::this_thread::yield();
  }

  /// Every verb of the data path. One client writes: a slab that changes hands costs messages on sockets, which
  /// are not the data path.
  void play_round(const TestClient& writer, const TestClient& reader, std::uint64_t first) {
    const auto keys = keys_from(first, kBlocks);
    std::vector<kvc_slot> slots = writer.reserve(keys);
    (void)kvc_commit(writer.space, slots.data(), kBlocks / 2, 0, 0);
    (void)kvc_abort(writer.space, &slots[kBlocks / 2], kBlocks / 4, 0, 0);
    wait_for_the_rest(writer, reader, keys, slots);
    acquire_all(reader, keys_from(first, kBlocks / 2));
    kvc_release(reader.lease);
    (void)reader.acquire(keys_from(first, kBlocks / 2), KVC_VERIFY);  // sums are taken for it
    kvc_release(reader.lease);
    for (const kvc_slot& slot : reader.reserve(keys_from(first, kBlocks / 2)))
      EXPECT_EQ(slot.code, KVC_EXISTS);
  }

  /// A client misses until its own thread has mapped a new slab.
  static void acquire_all(const TestClient& client, const std::vector<kvc_key>& keys) {
    while (client.acquire(keys) < keys.size()) std::this_thread::yield();
  }

  /// A wait that the store holds open until the commit.
  void wait_for_the_rest(const TestClient& writer, const TestClient& reader, const std::vector<kvc_key>& keys,
                         std::vector<kvc_slot>& slots) {
    std::thread waiter([&] {
      std::size_t ready = 0;
      EXPECT_EQ(kvc_wait(reader.space, keys.data(), kBlocks, 0, nullptr, &ready), KVC_OK);
    });
    while (waits_open_.load() == 0) std::this_thread::yield();
    (void)kvc_commit(writer.space, &slots[kBlocks * 3 / 4], kBlocks / 4, 0, 0);
    waiter.join();
  }

  std::atomic<bool> is_armed_{false};
  std::atomic<std::uint64_t> waits_open_{0};
  std::atomic<std::uint64_t> sums_armed_{0};
  std::atomic<std::uint64_t> turns_{0};
};

// The trap sees operator new and the C library's own functions.
void take_twice() {
  const std::vector<int> vector(100);
  void* volatile raw = std::malloc(100);
  std::free(raw);
}

/// What is caught of two pieces of memory that another thread takes while the trap is there.
std::size_t caught_elsewhere(AllocationTrap::Watch watch) {
  std::atomic<bool> is_set{false};
  std::atomic<bool> is_taken{false};
  std::thread other([&] {
    while (!is_set.load()) std::this_thread::yield();
    take_twice();
    is_taken.store(true);
  });
  const std::size_t before = AllocationTrap::caught_count();
  {
    const AllocationTrap trap(watch);
    is_set.store(true);
    while (!is_taken.load()) std::this_thread::yield();
  }
  other.join();
  return AllocationTrap::caught_count() - before;
}

TEST(AllocationTrap, catches_each_way_of_taking_memory_while_it_is_set) {
  for (const auto watch : {AllocationTrap::Watch::kThisThread, AllocationTrap::Watch::kAllThreads}) {
    const std::size_t before = AllocationTrap::caught_count();
    {
      const AllocationTrap trap(watch);
      take_twice();
    }
    take_twice();
    EXPECT_EQ(AllocationTrap::caught_count(), before + 2);
  }
}

TEST(AllocationTrap, catches_other_threads_only_when_it_watches_all) {
  EXPECT_EQ(caught_elsewhere(AllocationTrap::Watch::kThisThread), 0U);
  EXPECT_EQ(caught_elsewhere(AllocationTrap::Watch::kAllThreads), 2U);
}

TEST_F(DataPathMemory, every_verb_in_a_full_pool_takes_no_memory) {
  const std::size_t before = AllocationTrap::caught_count();
  serve([&] {
    const TestClient writer(path_);
    const TestClient reader(path_);
    const TestClient keeper(path_);
    std::uint64_t next = 0;
    for (int i = 0; i < kWarmUpRounds; ++i, next += kBlocks) play_round(writer, reader, next);
    // Blocks of the rounds leave before their checksums are due; these stay.
    const auto kept = keys_from(1 << 30, 8);
    writer.put(kept);
    acquire_all(keeper, kept);
    is_armed_.store(true);
    for (int i = 0; i < kRounds || sums_armed_.load() < kept.size(); ++i, next += kBlocks)
      play_round(writer, reader, next);
    disarm();
  });
  EXPECT_EQ(AllocationTrap::caught_count(), before) << "the places are above";
  // The rounds did what they are for.
  const StoreStats& stats = store_->stats();
  EXPECT_GT(stats.evictions, 1000U);
  EXPECT_GT(stats.commits, 1000U);
  EXPECT_GT(stats.aborts, 1000U);
  EXPECT_GT(stats.reserve_exists, 1000U);
  EXPECT_GT(stats.hits_host, 1000U);
}

}  // namespace
}  // namespace kvtier::test
