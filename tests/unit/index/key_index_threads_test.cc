// L-09, L-13: the index under its contract, one writer that makes room and many readers, from a few buckets
// through every growth, and many threads at once where the library below allows more. No exception leaves,
// nobody hangs, a reader sees a key's block or nothing.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "daemon/index/key_index.h"
#include "libkvclient/base/prng.h"

namespace kvtier {
namespace {

constexpr NamespaceId kTenant{0};
constexpr SpaceId kSpace{1};
constexpr unsigned kThreads = 8;  // spinning readers on few processors would only measure the scheduler

Key key_of(std::uint64_t i) {
  return Key{{i * 4096, 0, 0, 1}};
}

// Ends a hang: the test's own time limit is minutes away.
class Watchdog {
 public:
  explicit Watchdog(const std::atomic<std::uint64_t>& progress)
      : thread_([this, &progress] { run(progress); }) {}
  ~Watchdog() {
    is_over_ = true;
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void run(const std::atomic<std::uint64_t>& progress) {
    std::uint64_t last = 0;
    for (int still = 0; !is_over_; std::this_thread::sleep_for(std::chrono::milliseconds(10))) {
      const std::uint64_t now = progress.load();
      still = now == last ? still + 1 : 0;
      last = now;
      if (still > 3000) std::abort();  // 30 s without one operation
    }
  }
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

TEST(KeyIndexThreads, OneWriterGrowsItWhileSevenRead_L09) {
  KeyIndex index(3);
  std::atomic<std::uint64_t> progress = 0;
  std::atomic<std::uint64_t> written = 0;
  std::atomic<bool> is_done = false;
  std::atomic<std::uint64_t> wrong = 0;
  std::vector<std::thread> readers;
  const Watchdog watchdog(progress);
  for (unsigned t = 1; t < kThreads; ++t) {
    readers.emplace_back([&, t] {
      Prng chance(t);
      while (!is_done) {
        const std::uint64_t limit = written.load();
        if (limit == 0) continue;
        const std::uint64_t i = chance.below(limit);
        const BlockId found = index.find(kTenant, kSpace, key_of(i));
        // Even ones stay, odd ones come and go.
        const bool is_right =
            found == BlockId{static_cast<std::uint32_t>(i)} || (found == BlockId::kNone && i % 2 == 1);
        if (!is_right) ++wrong;
        ++progress;
      }
    });
  }
  for (std::uint32_t i = 0; i < 100000; ++i) {
    // As the store does: room is made before the blocks come.
    if ((i & (i - 1)) == 0) {
      ASSERT_TRUE(index.reserve(2 * std::uint64_t{i} + 1).is_ok());
    }
    ASSERT_EQ(index.insert(kTenant, kSpace, key_of(i), BlockId{i}), Code::kOk);
    if (i % 2 == 1 && !index.erase(kTenant, kSpace, key_of(i))) ++wrong;
    written = i + 1;
    ++progress;
  }
  is_done = true;
  for (std::thread& each : readers) each.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(index.size(), 50000U);
}

// More than the contract asks: several writers in the room that was reserved. What the report found (an
// internal exception that escaped under concurrent growth) would end this process.
TEST(KeyIndexThreads, ManyWritersLoseNothing_L13) {
  KeyIndex index(4);
  std::atomic<std::uint64_t> progress = 0;
  std::atomic<std::uint64_t> failed = 0;
  constexpr std::uint32_t kEach = 20000;
  ASSERT_TRUE(index.reserve(std::uint64_t{kEach} * kThreads).is_ok());
  {
    const Watchdog watchdog(progress);
    std::vector<std::thread> writers;
    for (unsigned t = 0; t < kThreads; ++t) {
      writers.emplace_back([&, t] {
        for (std::uint32_t i = 0; i < kEach; ++i) {
          const std::uint32_t name = i * kThreads + t;
          if (index.insert(kTenant, kSpace, key_of(name), BlockId{name}) != Code::kOk) ++failed;
          if (i % 4 == 3 && !index.erase(kTenant, kSpace, key_of(name))) ++failed;
          ++progress;
        }
      });
    }
    for (std::thread& each : writers) each.join();
  }
  EXPECT_EQ(failed, 0U);
  EXPECT_EQ(index.size(), std::uint64_t{kEach} * kThreads * 3 / 4);
}

// L-13: the end of the room is an answer, not an exception and not a growth.
TEST(KeyIndexThreads, BeyondTheRoomIsNoSpaceUntilMoreIsReserved_L13) {
  KeyIndex index(5);
  std::uint32_t i = 0;
  while (i < 100000 && index.insert(kTenant, kSpace, key_of(i), BlockId{i}) == Code::kOk) ++i;
  ASSERT_LT(i, 100000U);
  EXPECT_EQ(index.size(), i);
  ASSERT_TRUE(index.reserve(2 * std::uint64_t{i}).is_ok());
  EXPECT_EQ(index.insert(kTenant, kSpace, key_of(i), BlockId{i}), Code::kOk);
  for (std::uint32_t k = 0; k <= i; ++k) ASSERT_EQ(index.find(kTenant, kSpace, key_of(k)), BlockId{k});
}

}  // namespace
}  // namespace kvtier
