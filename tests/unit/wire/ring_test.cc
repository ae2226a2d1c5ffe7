#include "libkvclient/wire/ring.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace kvtier {
namespace {

struct SmallRing {
  static constexpr std::uint32_t kEntries = 8;
  using Producer = RingProducer<Completion, kEntries>;
  using Consumer = RingConsumer<Completion, kEntries>;
  std::vector<std::byte> records = std::vector<std::byte>(kEntries * sizeof(Completion));
  SharedU32 tail{0};
  SharedU32 head{0};
  Producer producer(std::uint32_t start = 0) { return {records.data(), tail, head, start}; }
  Consumer consumer(std::uint32_t start = 0) { return {records.data(), tail, head, start}; }
};

Completion numbered(std::uint32_t number) {
  Completion record{};
  record.request_id = number;
  return record;
}

TEST(Ring, FillsAndEmptiesInOrder) {
  SmallRing ring;
  auto producer = ring.producer();
  auto consumer = ring.consumer();
  Completion record{};
  EXPECT_EQ(consumer.pop(record), RingResult::kEmpty);
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(producer.push(numbered(i)), RingResult::kDone);
  EXPECT_EQ(producer.push(numbered(8)), RingResult::kFull);
  for (std::uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(consumer.pop(record), RingResult::kDone);
    EXPECT_EQ(record.request_id, i);
  }
  EXPECT_EQ(consumer.pop(record), RingResult::kEmpty);
  EXPECT_TRUE(consumer.is_empty());
}

TEST(Ring, CursorsMayWrapAround) {
  SmallRing ring;
  const std::uint32_t start = 0xfffffffc;
  ring.tail = ring.head = start;
  auto producer = ring.producer(start);
  auto consumer = ring.consumer(start);
  Completion record{};
  for (std::uint32_t i = 0; i < 20; ++i) {
    EXPECT_EQ(producer.push(numbered(i)), RingResult::kDone);
    EXPECT_EQ(consumer.pop(record), RingResult::kDone);
    EXPECT_EQ(record.request_id, i);
  }
}

TEST(Ring, ALyingCursorIsBroken) {
  SmallRing ring;
  auto producer = ring.producer();
  auto consumer = ring.consumer();
  Completion record{};
  ring.tail = 9;  // further than the ring is long
  EXPECT_EQ(consumer.pop(record), RingResult::kBroken);
  ring.head = 5;  // ahead of what was produced
  EXPECT_EQ(producer.push(numbered(0)), RingResult::kBroken);
}

TEST(Ring, TwoThreadsPassEveryRecordOnce) {
  SmallRing ring;
  constexpr std::uint32_t kRecords = 100'000;
  std::thread produces([&] {
    auto producer = ring.producer();
    for (std::uint32_t i = 0; i < kRecords;) {
      if (producer.push(numbered(i)) == RingResult::kDone) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  auto consumer = ring.consumer();
  Completion record{};
  for (std::uint32_t i = 0; i < kRecords;) {
    if (consumer.pop(record) != RingResult::kDone) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(record.request_id, i++);
  }
  produces.join();
}

TEST(Ring, NoSleeperIsMissed) {
  // The sleeping rule of ring.h: announce, look again, sleep; publish, look for sleepers.
  SmallRing ring;
  SharedU32 sleeps{0};
  constexpr std::uint32_t kRecords = 20'000;
  std::atomic<std::uint32_t> wakes{0};
  std::thread consumes([&] {
    auto consumer = ring.consumer();
    Completion record{};
    for (std::uint32_t i = 0; i < kRecords;) {
      if (consumer.pop(record) == RingResult::kDone) {
        ++i;
        continue;
      }
      const std::uint32_t before = wakes.load();
      sleeps.store(1, std::memory_order_seq_cst);
      if (consumer.is_empty()) {
        while (wakes.load() == before) std::this_thread::yield();  // asleep: a missed wake-up hangs the test
      }
      sleeps.store(0, std::memory_order_seq_cst);
    }
  });
  auto producer = ring.producer();
  for (std::uint32_t i = 0; i < kRecords;) {
    if (producer.push(numbered(i)) != RingResult::kDone) {
      std::this_thread::yield();
      continue;
    }
    ++i;
    if (sleeps.load(std::memory_order_seq_cst) != 0) wakes.fetch_add(1);
  }
  consumes.join();
}

}  // namespace
}  // namespace kvtier
