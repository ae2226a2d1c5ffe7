#include "libkvclient/wire/pins.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace kvtier {
namespace {

struct PinsTest : testing::Test {
  PinCell pin{0};
  PinCell other{0};
  SlotCell slot{0};
  const std::array<const PinCell*, 2> pins{&pin, &other};

  Generation make_ready() {
    const Generation generation = Pins::begin_write(slot);
    EXPECT_TRUE(Pins::publish(slot, generation));
    return generation;
  }
};

TEST_F(PinsTest, AcquireLeasesTheExpectedGenerationOnly) {
  const Generation generation = make_ready();
  EXPECT_FALSE(Pins::acquire(pin, slot, generation + 1));
  EXPECT_FALSE(Pins::acquire(pin, slot, 0));
  EXPECT_EQ(pin.load(), 0u);
  EXPECT_TRUE(Pins::acquire(pin, slot, generation));
  EXPECT_EQ(pin.load(), 1u);
  Pins::release(pin);
  EXPECT_EQ(pin.load(), 0u);
}

TEST_F(PinsTest, NoOtherStateCanBeLeased) {
  for (const SlotState state :
       {SlotState::kFree, SlotState::kWriting, SlotState::kEvicting, SlotState::kQuarantined}) {
    slot.store(SlotWord{5, state}.encode());
    EXPECT_FALSE(Pins::acquire(pin, slot, 5)) << slot_state_name(state);
    EXPECT_EQ(pin.load(), 0u);
  }
}

TEST_F(PinsTest, APinOfAnyChannelStopsEviction) {
  const Generation generation = make_ready();
  ASSERT_TRUE(Pins::acquire(other, slot, generation));
  EXPECT_EQ(Pins::try_evict(slot, pins), EvictOutcome::kPinned);
  EXPECT_EQ(slot.load(), ready_word(generation));
  Pins::release(other);
  EXPECT_EQ(Pins::try_evict(slot, pins), EvictOutcome::kEvicting);
  EXPECT_FALSE(Pins::acquire(pin, slot, generation));
}

TEST_F(PinsTest, AHostileCounterCountsAsPinned) {
  make_ready();
  for (const std::uint32_t value : {1u, 0x80000000u, 0xffffffffu}) {
    pin.store(value);
    EXPECT_EQ(Pins::try_evict(slot, pins), EvictOutcome::kPinned);
    EXPECT_EQ(pin.load(), value);
  }
}

TEST_F(PinsTest, OnlyReadySlotsAreEvicted) {
  EXPECT_EQ(Pins::try_evict(slot, pins), EvictOutcome::kNotReady);
  const Generation generation = Pins::begin_write(slot);
  EXPECT_EQ(Pins::try_evict(slot, pins), EvictOutcome::kNotReady);
  EXPECT_TRUE(Pins::publish(slot, generation));
}

// Readers lease and check the bytes while an evictor rewrites the slot with each next generation's value.
TEST(PinsThreadsTest, ALeasedSlotIsNeverRewritten) {
  constexpr std::uint64_t kLeases = 20'000;
  constexpr Generation kUses = 100;
  SlotCell slot{0};
  std::array<PinCell, 2> counters{};  // readers 0 and 2 are threads of one client
  std::array<std::uint64_t, 16> bytes{};
  std::atomic<Generation> current{0};
  std::atomic<std::uint64_t> lease_count{0};
  std::atomic<std::uint64_t> wrong_count{0};
  std::atomic<bool> is_over{false};
  const auto read = [&](PinCell& pin) {
    while (!is_over.load(std::memory_order_relaxed)) {
      const Generation generation = current.load(std::memory_order_relaxed);
      if (Pins::acquire(pin, slot, generation)) {
        for (const std::uint64_t word : bytes) wrong_count += word != generation ? 1 : 0;
        ++lease_count;
        Pins::release(pin);
      }
      std::this_thread::yield();  // else one of them always holds a lease
    }
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) readers.emplace_back([&, i] { read(counters[i % 2]); });
  const std::array<const PinCell*, 2> pins{&counters[0], &counters[1]};
  Generation generation = 0;
  // Enough of both: few processors may give the readers all leases in a handful of uses.
  while (lease_count.load(std::memory_order_relaxed) < kLeases || generation < kUses) {
    generation = Pins::begin_write(slot);
    bytes.fill(generation);
    ASSERT_TRUE(Pins::publish(slot, generation));
    current.store(generation, std::memory_order_relaxed);
    do std::this_thread::yield();
    while (Pins::try_evict(slot, pins) != EvictOutcome::kEvicting);
    ASSERT_TRUE(Pins::retire(slot));
  }
  is_over.store(true, std::memory_order_relaxed);
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong_count.load(), 0u);
  EXPECT_EQ(counters[0].load() + counters[1].load(), 0u);
  RecordProperty("uses", static_cast<int>(generation));
}

}  // namespace
}  // namespace kvtier
