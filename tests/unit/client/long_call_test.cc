// Calls over many keys keep to their deadline: they look at it now and then (pace.h). A deadline of 1 ns has passed at
// the first look, wherever that is, so nothing here depends on how fast anything is.

#include <algorithm>

#include "libkvclient/src/deadline.h"
#include "libkvclient/src/pace.h"
#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

using client::kPaceKeys;

constexpr std::size_t kSlots = 1000;  // two stretches, the second not full
constexpr std::size_t kMany = 5000;
static_assert(kSlots > kPaceKeys && kSlots < 2 * kPaceKeys && kPaceKeys % kInlineHolds == 0);

TEST(ClientPace, LooksAfterSoManyKeysAndNotBefore) {
  client::Pace pace(client::now_ns());
  EXPECT_FALSE(pace.is_over()) << "what is at hand is done";
  pace.add(kPaceKeys - 1);
  EXPECT_FALSE(pace.is_over());
  pace.add(1);
  EXPECT_TRUE(pace.is_over());
  EXPECT_TRUE(pace.is_over()) << "it stays so";
  client::Pace endless(kNever);
  endless.add(kMany);
  EXPECT_FALSE(endless.is_over());
}

class LongCall : public testing::Test {
 protected:
  LongCall() {
    daemon_.with_store([](FakeStore& store) { store.usable_slabs = FakeStore::kSlabs; });
  }
  static std::size_t open_count(const std::vector<kvc_slot>& slots) {
    return static_cast<std::size_t>(std::ranges::count_if(
        slots, [](const kvc_slot& slot) { return slot.code == KVC_OK && slot.data != nullptr; }));
  }
  /// From here on every wait of this thread, and every look at a deadline, says that it is over.
  void interrupt() {
    daemon_.change({.unanswered = {Op::kEcho}});
    kvc_set_interrupt([](void*) { return 1; }, nullptr);
    EXPECT_EQ(kvc_ping(client_.client, 3600'000 * kMs), KVC_DEADLINE);
    daemon_.change({});
    daemon_.answer_now();
  }

  FakeDaemon daemon_;
  const TestClient client_{daemon_.path()};
};

TEST_F(LongCall, ACommitLeavesTheRestToTheCaller) {
  const auto keys = keys_from(0, kSlots);
  std::vector<kvc_slot> slots = client_.reserve(keys);
  ASSERT_EQ(open_count(slots), kSlots);
  EXPECT_EQ(kvc_commit(client_.space, slots.data(), kSlots, 0, 1), KVC_DEADLINE);
  EXPECT_EQ(open_count(slots), kSlots - kPaceKeys);
  EXPECT_EQ(slots[kPaceKeys - 1].data, nullptr);
  EXPECT_NE(slots[kPaceKeys].data, nullptr);
  EXPECT_EQ(client_.stats().reservations_open, kSlots - kPaceKeys);
  EXPECT_EQ(kvc_commit(client_.space, slots.data(), kSlots, KVC_WAIT, 0), KVC_OK);
  EXPECT_EQ(client_.ready(keys), kSlots);
}

TEST_F(LongCall, AnInterruptEndsACommit) {
  std::vector<kvc_slot> slots = client_.reserve(keys_from(0, kSlots));
  interrupt();
  EXPECT_EQ(kvc_commit(client_.space, slots.data(), kSlots, 0, 3600'000 * kMs), KVC_DEADLINE);
  kvc_set_interrupt(nullptr, nullptr);
  EXPECT_EQ(open_count(slots), kSlots - kPaceKeys);
  EXPECT_EQ(kvc_abort(client_.space, slots.data(), kSlots, KVC_WAIT, 0), KVC_OK);
}

TEST_F(LongCall, AnAbortEndsThemAllTheSame) {
  std::vector<kvc_slot> slots = client_.reserve(keys_from(0, kSlots));
  EXPECT_EQ(kvc_abort(client_.space, slots.data(), kSlots, 0, 1), KVC_OK);
  EXPECT_EQ(open_count(slots), 0U);
  EXPECT_EQ(client_.stats().reservations_open, 0U);
  wait_until([&] { return daemon_.writing_count() == 0; });
}

TEST_F(LongCall, AWaitSaysWhatItHasLookedUp) {
  client_.put(keys_from(0, 1));
  const std::vector<kvc_key> keys(kMany, key_of(0));
  std::vector<std::uint8_t> states(kMany, 9);
  std::size_t ready = 0;
  EXPECT_EQ(kvc_wait(client_.space, keys.data(), kMany, 1, states.data(), &ready), KVC_DEADLINE);
  EXPECT_EQ(ready, kPaceKeys);
  EXPECT_EQ(states[kPaceKeys], KVC_MISSING);
  EXPECT_EQ(kvc_wait(client_.space, keys.data(), kPaceKeys, 1, nullptr, &ready), KVC_OK)
      << "not longer than a look";
  EXPECT_EQ(kvc_wait(client_.space, keys.data(), kMany, 0, states.data(), &ready), KVC_OK);
  EXPECT_EQ(ready, kMany);
  EXPECT_EQ(client_.stats().requests, 2U) << "those of the put";
}

TEST_F(LongCall, AReserveWithoutClaimLooksUpNoMore) {
  client_.put(keys_from(0, 1));
  const std::vector<kvc_key> keys(kMany, key_of(0));
  std::vector<kvc_slot> slots(kMany);
  kvc_reserve_options options{.struct_size = sizeof options, .deadline_ns = 1, .flags = KVC_NO_CLAIM};
  EXPECT_EQ(kvc_reserve(client_.space, keys.data(), kMany, &options, slots.data()), KVC_DEADLINE);
  for (const kvc_slot& slot : slots) ASSERT_EQ(slot.code, KVC_UNAVAILABLE);
  options.deadline_ns = 0;
  EXPECT_EQ(kvc_reserve(client_.space, keys.data(), kMany, &options, slots.data()), KVC_OK);
  EXPECT_EQ(slots.back().code, KVC_EXISTS);
}

TEST_F(LongCall, APinSendsNoMore) {
  const auto keys = keys_from(0, 3 * kRequestKeysMax);
  std::size_t pinned = 0;
  EXPECT_EQ(kvc_pin(client_.space, keys.data(), keys.size(), 1, 1, &pinned), KVC_DEADLINE);
  EXPECT_LE(pinned, kRequestKeysMax);
  EXPECT_EQ(client_.stats().requests, 1U);
}

}  // namespace
}  // namespace kvtier::test
