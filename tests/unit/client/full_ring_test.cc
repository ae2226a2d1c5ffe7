// A daemon that stands still while its clients go on: the submission ring fills up.

#include <algorithm>

#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

constexpr std::size_t kCommits = 400;

class FullRing : public testing::Test {
 protected:
  /// Reserves `count`, then has the daemon stand still and fills the ring but for `room` records: with commits of one
  /// slot each, and with pings, which also take entries of the table of open requests, but not all.
  std::vector<kvc_slot> reserve_then_fill(std::size_t count, std::uint32_t room = 0) {
    std::vector<kvc_slot> slots = client_.reserve(keys_from(0, count));
    std::vector<kvc_slot> others = client_.reserve(keys_from(1000, kCommits));
    for (const kvc_slot& slot : slots) std::memset(slot.data, 0x31, 4096);
    stand_still();
    for (kvc_slot& other : others) EXPECT_EQ(kvc_commit(client_.space, &other, 1, 0, 0), KVC_OK);
    for (std::size_t i = kCommits; i < kSubmissionEntries - room; ++i)
      EXPECT_EQ(kvc_ping(client_.client, 1), KVC_DEADLINE);
    return slots;
  }
  void stand_still() { daemon_.change({.takes_no_records = true}); }
  void go_on() { daemon_.change({}); }
  int commit(std::vector<kvc_slot>& slots, std::uint32_t flags, std::uint64_t deadline_ns = kMs) {
    return kvc_commit(client_.space, slots.data(), slots.size(), flags, deadline_ns);
  }
  int abort(std::vector<kvc_slot>& slots, std::uint32_t flags) {
    return kvc_abort(client_.space, slots.data(), slots.size(), flags, kMs);
  }
  static std::size_t open_count(const std::vector<kvc_slot>& slots) {
    return static_cast<std::size_t>(std::ranges::count_if(
        slots, [](const kvc_slot& slot) { return slot.code == KVC_OK && slot.data != nullptr; }));
  }

  FakeDaemon daemon_;
  TestClient client_{daemon_.path()};
};

TEST_F(FullRing, ACommitLeavesItsSlotsAsTheyWere) {
  std::vector<kvc_slot> slots = reserve_then_fill(8);
  const std::vector<kvc_slot> before = slots;
  for (const std::uint32_t flags : {0U, std::uint32_t{KVC_WAIT}}) {
    EXPECT_EQ(commit(slots, flags), KVC_DEADLINE);
    EXPECT_EQ(std::memcmp(slots.data(), before.data(), slots.size() * sizeof(kvc_slot)), 0);
    EXPECT_EQ(client_.stats().reservations_open, 8U);
  }
  std::memset(slots[7].data, 0x32, 4096);  // still writable, and what is there last counts
  go_on();
  EXPECT_EQ(commit(slots, KVC_WAIT, 0), KVC_OK);
  EXPECT_EQ(client_.stats().commit_blocks, kCommits + 8);
  ASSERT_EQ(client_.acquire(keys_from(0, 8)), 8U);
  EXPECT_EQ(client_.first_byte(6), 0x31);
  EXPECT_EQ(client_.first_byte(7), 0x32);
}

TEST_F(FullRing, ACommitThatWouldLeaseHoldsNothingAndLeavesItsSlots) {
  std::vector<kvc_slot> slots = reserve_then_fill(8);
  const std::vector<kvc_slot> before = slots;
  EXPECT_EQ(kvc_commit_acquire(client_.space, slots.data(), 8, kMs, client_.lease), KVC_DEADLINE);
  EXPECT_EQ(std::memcmp(slots.data(), before.data(), slots.size() * sizeof(kvc_slot)), 0);
  EXPECT_EQ(kvc_lease_held(client_.lease), 0U);
  EXPECT_EQ(daemon_.pinned_count(), 0U);
  go_on();
  EXPECT_EQ(kvc_commit_acquire(client_.space, slots.data(), 8, 0, client_.lease), KVC_OK);
  EXPECT_EQ(kvc_lease_held(client_.lease), 8U);
}

TEST_F(FullRing, ACommitStopsWhereTheRingIsFull) {
  std::vector<kvc_slot> slots = reserve_then_fill(12, 1);
  EXPECT_EQ(commit(slots, 0), KVC_DEADLINE);
  EXPECT_EQ(open_count(slots), 8U);
  EXPECT_EQ(slots[3].data, nullptr) << "handed over";
  EXPECT_NE(slots[4].data, nullptr);
  go_on();
  EXPECT_EQ(commit(slots, KVC_WAIT, 0), KVC_OK);
  EXPECT_EQ(client_.ready(keys_from(0, 12)), 12U);
}

// Handed over, so that it cannot be taken back; the rest stays the caller's.
TEST_F(FullRing, AnAwaitedCommitTellsWhatIsNotKnown) {
  std::vector<kvc_slot> slots = client_.reserve(keys_from(0, 8));
  stand_still();
  EXPECT_EQ(commit(slots, KVC_WAIT), KVC_DEADLINE);
  EXPECT_EQ(slots[0].code, KVC_DEADLINE);
  EXPECT_EQ(slots[0].data, nullptr);
  EXPECT_EQ(open_count(slots), 4U);
  go_on();
  EXPECT_EQ(commit(slots, KVC_WAIT, 0), KVC_OK);
  EXPECT_EQ(client_.ready(keys_from(0, 8)), 8U);
}

TEST_F(FullRing, AnAbortIsSentLater) {
  for (const std::uint32_t flags : {0U, std::uint32_t{KVC_WAIT}}) {
    std::vector<kvc_slot> slots = reserve_then_fill(8);
    EXPECT_EQ(abort(slots, flags), flags == 0 ? KVC_OK : KVC_DEADLINE);
    EXPECT_EQ(open_count(slots), 0U);
    EXPECT_EQ(slots[7].data, nullptr);
    EXPECT_EQ(client_.stats().reservations_open, 0U);
    EXPECT_EQ(client_.ready(keys_from(0, 1)), 0U);
    go_on();
    wait_until([&] { return daemon_.writing_count() == 0; });  // nobody calls: the service thread sends it
    ASSERT_EQ(kvc_invalidate(client_.space, 0, nullptr), KVC_OK);
  }
}

TEST_F(FullRing, ASlotThatIsLeftOverCanBeAborted) {
  std::vector<kvc_slot> slots = reserve_then_fill(8);
  EXPECT_EQ(commit(slots, 0), KVC_DEADLINE);
  EXPECT_EQ(abort(slots, 0), KVC_OK);
  go_on();
  wait_until([&] { return daemon_.writing_count() == 0; });
  EXPECT_EQ(client_.ready(keys_from(1000, kCommits)), kCommits);
  EXPECT_EQ(client_.ready(keys_from(0, 8)), 0U);
}

// As any reservation: the room is the daemon's again.
TEST_F(FullRing, AHangUpEndsWhatIsLeftOver) {
  std::vector<kvc_slot> slots = reserve_then_fill(8);
  EXPECT_EQ(commit(slots, 0), KVC_DEADLINE);
  go_on();
  daemon_.hang_up_all();
  wait_until([&] { return client_.status().sessions_count == 2 && client_.is_usable(); });
  EXPECT_EQ(commit(slots, 0), KVC_STALE);
  EXPECT_EQ(slots[0].data, nullptr);
  EXPECT_EQ(client_.stats().reservations_open, 0U);
}

TEST_F(FullRing, AnInterruptEndsTheWaitForRoom) {
  std::vector<kvc_slot> slots = reserve_then_fill(8);
  kvc_set_interrupt([](void*) { return 1; }, nullptr);
  EXPECT_EQ(commit(slots, 0, 3600'000 * kMs), KVC_DEADLINE);
  kvc_set_interrupt(nullptr, nullptr);
  EXPECT_EQ(open_count(slots), 8U);
  go_on();
  EXPECT_EQ(commit(slots, KVC_WAIT, 0), KVC_OK);
}

}  // namespace
}  // namespace kvtier::test
