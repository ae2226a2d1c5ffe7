#include "libkvclient/wire/access_log.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "libkvclient/base/prng.h"
#include "tests/unit/wire/zeroed_memory.h"

namespace kvtier {
namespace {

constexpr std::size_t kCapacity = 16;

/// All fields follow from the number, so that a mixed record shows.
AccessRecord numbered(std::uint64_t number) {
  const std::uint64_t bits = mix64(number);
  return {.last = {static_cast<std::uint32_t>(bits)},
          .count = static_cast<std::uint16_t>(bits >> 16),
          .tier = static_cast<AccessTier>(number % 3),
          .flags = static_cast<std::uint8_t>(bits >> 8),
          .time_ms = static_cast<std::uint32_t>(bits >> 32),
          .request_id = number};
}

struct AccessLogTest : testing::Test {
  ZeroedMemory memory{AccessLogLayout::bytes_for(kCapacity)};
  AccessLogProducer producer{memory.span(), kCapacity};
  AccessLogConsumer consumer{memory.span(), kCapacity};
  std::array<AccessRecord, 2 * kCapacity> out{};

  AccessLogHeader& header() { return *reinterpret_cast<AccessLogHeader*>(memory.span().data()); }
  AccessLogRing::Record& record(std::size_t index) {
    return reinterpret_cast<AccessLogRing::Record*>(memory.span().data() + sizeof(AccessLogHeader))[index];
  }
};

TEST_F(AccessLogTest, RecordsArriveInOrderOverManyLaps) {
  std::uint64_t expected = 0;
  for (std::uint64_t number = 0; number < 100 * kCapacity; ++number) {
    (void)producer.append(numbered(number));
    if (number % 7 != 0) continue;
    const std::size_t count = consumer.drain(out);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(out[i], numbered(expected++));
  }
  EXPECT_EQ(consumer.lost_count(), 0u);
}

TEST_F(AccessLogTest, OverflowKeepsTheNewestAndCountsTheRest) {
  for (std::uint64_t number = 0; number < 3 * kCapacity + 5; ++number)
    (void)producer.append(numbered(number));
  ASSERT_EQ(consumer.drain(out), kCapacity);
  EXPECT_EQ(out[0], numbered(2 * kCapacity + 5));
  EXPECT_EQ(consumer.lost_count(), 2 * kCapacity + 5);
}

TEST_F(AccessLogTest, DrainStopsAtTheCallersSize) {
  for (std::uint64_t number = 0; number < 5; ++number) (void)producer.append(numbered(number));
  EXPECT_EQ(consumer.drain(std::span(out).first(3)), 3u);
  EXPECT_EQ(consumer.drain(std::span(out).first(3)), 2u);
  EXPECT_EQ(out[1], numbered(4));
}

TEST_F(AccessLogTest, AsksForOneWakeUpADrainWhenHalfFull) {
  for (int round = 0; round < 3; ++round) {
    int asked = 0;
    for (std::size_t i = 0; i < kCapacity; ++i) {
      if (producer.append(numbered(i))) {
        ++asked;
        EXPECT_EQ(i + 1, kCapacity / 2);
      }
    }
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(consumer.drain(out), kCapacity);
  }
}

TEST_F(AccessLogTest, AHalfWrittenRecordIsWaitedForOnceThenLost) {
  (void)producer.append(numbered(0));
  header().tail.fetch_add(1);  // a producer that claimed and stopped
  (void)producer.append(numbered(2));
  EXPECT_EQ(consumer.drain(out), 1u);
  EXPECT_EQ(consumer.lost_count(), 0u);
  EXPECT_EQ(consumer.drain(out), 1u);
  EXPECT_EQ(out[0], numbered(2));
  EXPECT_EQ(consumer.lost_count(), 1u);
}

TEST_F(AccessLogTest, WordsOfAnotherLapAreNotARecord) {
  (void)producer.append(numbered(0));
  record(0).words[1].fetch_add(std::uint64_t{1} << 48);
  EXPECT_EQ(consumer.drain(out), 0u);
  EXPECT_EQ(consumer.lost_count(), 1u);
}

TEST_F(AccessLogTest, ALyingTailCostsABoundedDrainAndAnHonestOneIsHeardAgain) {
  (void)producer.append(numbered(0));
  for (const std::uint64_t tail : {~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{0}}) {
    header().tail.store(tail);
    for (int drain = 0; drain < 4; ++drain) EXPECT_LE(consumer.drain(out), kCapacity);
  }
  for (std::size_t i = 0; i < 2 * kCapacity; ++i) (void)producer.append(numbered(i));
  EXPECT_EQ(consumer.drain(out), kCapacity);
}

TEST_F(AccessLogTest, RandomBytesAreSurvived) {
  Prng prng(7);
  for (int round = 0; round < 2'000; ++round) {
    auto words = memory.as<std::uint64_t>();
    for (int i = 0; i < 8; ++i) words[prng.below(words.size())] = prng.next() >> prng.below(64);
    EXPECT_LE(consumer.drain(out), out.size());
  }
}

TEST_F(AccessLogTest, ANewConsumerGoesOnWhereTheOldOneStopped) {
  for (std::uint64_t number = 0; number < kCapacity + 3; ++number) {
    (void)producer.append(numbered(number));
    if (number == kCapacity) consumer.drain(out);
  }
  AccessLogConsumer adopted(memory.span(), kCapacity);
  ASSERT_EQ(adopted.drain(out), 2u);
  EXPECT_EQ(out[0], numbered(kCapacity + 1));
}

TEST(AccessLogThreadsTest, NoRecordIsEverMixed) {
  constexpr std::uint64_t kPerThread = 100'000;
  constexpr std::uint64_t kThreads = 3;
  const ZeroedMemory memory{AccessLogLayout::bytes_for(kCapacity)};
  const AccessLogProducer producer{memory.span(), kCapacity};
  AccessLogConsumer consumer{memory.span(), kCapacity};
  std::atomic<std::uint64_t> running{kThreads};
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint64_t i = 0; i < kPerThread; ++i) (void)producer.append(numbered(thread * kPerThread + i));
      --running;
    });
  }
  std::array<AccessRecord, kCapacity> out{};
  std::uint64_t taken_count = 0;
  std::size_t count = 0;
  for (bool last = false; !last || count > 0;) {
    last = running.load() == 0;
    count = consumer.drain(out);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], numbered(out[i].request_id));
    taken_count += count;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken_count + consumer.lost_count(), kThreads * kPerThread);
}

}  // namespace
}  // namespace kvtier
