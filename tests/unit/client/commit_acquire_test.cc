// kvc_commit_acquire: what is committed and leased in one.

#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

int commit_acquire(const TestClient& client, std::vector<kvc_slot>& slots) {
  return kvc_commit_acquire(client.space, slots.data(), slots.size(), 0, client.lease);
}

TEST(ClientCommitAcquire, TheBlocksAreVisibleAndLeased) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots = client.reserve(keys_from(0, 9));
  for (std::size_t i = 0; i < slots.size(); ++i) std::memset(slots[i].data, static_cast<int>(i), 4096);
  const std::vector<kvc_slot> before = slots;
  ASSERT_EQ(commit_acquire(client, slots), KVC_OK) << kvc_last_error();
  ASSERT_EQ(kvc_lease_held(client.lease), 9U);
  EXPECT_EQ(kvc_lease_count(client.lease), 9U);
  EXPECT_EQ(kvc_lease_block_bytes(client.lease), 4096U);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    EXPECT_EQ(slots[i].data, nullptr);
    EXPECT_EQ(kvc_lease_blocks(client.lease)[i], before[i].data) << "where they were written";
    EXPECT_EQ(client.first_byte(i), i);
  }
  EXPECT_EQ(daemon.pinned_count(), 9U);
  EXPECT_EQ(client.ready(keys_from(0, 9)), 9U);
  EXPECT_FALSE(daemon.evict(wire_key_of(3)));
  EXPECT_EQ(client.stats().leases_open, 1U);
  EXPECT_EQ(client.stats().reservations_open, 0U);
  kvc_release(client.lease);
  EXPECT_EQ(daemon.pinned_count(), 0U);
  EXPECT_TRUE(daemon.evict(wire_key_of(3)));
}

// The daemon has carried the commit out, its client does not know that yet, and memory is short. What holds is the pin.
TEST(ClientCommitAcquire, NothingLeavesBetweenCommitAndLease) {
  FakeDaemon daemon({.unanswered = {Op::kCommit}});
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots = client.reserve(keys_from(0, 1));
  const std::uint64_t session = client.status().session_id;
  const Hold hold{slots[0].private_hold[0], slots[0].private_hold[1]};
  std::thread caller([&] { (void)commit_acquire(client, slots); });
  wait_until([&] { return client.stats().reservations_open == 0; });
  EXPECT_EQ(daemon.with_store([&](FakeStore& store) { return store.commit(hold, session); }), Code::kOk);
  EXPECT_FALSE(daemon.evict(wire_key_of(0)));
  daemon.change({});
  daemon.answer_now();  // with kInvalid: it is committed already
  caller.join();
  EXPECT_EQ(slots[0].code, KVC_OK) << "it is held, so it is there";
  EXPECT_EQ(kvc_lease_held(client.lease), 1U);
}

TEST(ClientCommitAcquire, WhatIsNotCommittedSaysWhyAndLeavesNoPin) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots = client.reserve(keys_from(0, 6));
  daemon.with_store([&](FakeStore& store) {
    EXPECT_EQ(store.abort({slots[4].private_hold[0], slots[4].private_hold[1]}, 1), Code::kOk);
  });
  EXPECT_EQ(commit_acquire(client, slots), KVC_INVALID);
  EXPECT_EQ(slots[4].code, KVC_INVALID);
  EXPECT_EQ(slots[5].code, KVC_OK);
  EXPECT_EQ(kvc_lease_held(client.lease), 5U);
  EXPECT_EQ(kvc_lease_blocks(client.lease)[4], nullptr);
  EXPECT_EQ(daemon.pinned_count(), 5U);
  kvc_release(client.lease);
  EXPECT_EQ(daemon.pinned_count(), 0U);
}

TEST(ClientCommitAcquire, SlotsThatAreNotReservedArePassedOver) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  client.put(keys_from(0, 1));
  std::vector<kvc_slot> slots = client.reserve(keys_from(0, 2));
  ASSERT_EQ(commit_acquire(client, slots), KVC_OK);
  EXPECT_EQ(slots[0].code, KVC_EXISTS);
  EXPECT_EQ(kvc_lease_blocks(client.lease)[0], nullptr);
  EXPECT_NE(kvc_lease_blocks(client.lease)[1], nullptr);
  kvc_release(client.lease);
  ASSERT_EQ(commit_acquire(client, slots), KVC_OK) << "they are over";
  EXPECT_EQ(slots[1].code, KVC_OK);
  EXPECT_EQ(kvc_lease_held(client.lease), 0U);
  EXPECT_EQ(client.acquire(keys_from(0, 2)), 2U) << "a lease that holds nothing is empty";
}

TEST(ClientCommitAcquire, SlotsOfAnEarlierSessionAreLostAndHoldNothing) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots = client.reserve(keys_from(0, 2));
  daemon.stop(false);
  daemon.start();
  wait_until([&] { return client.status().sessions_count == 2 && client.is_usable(); });
  EXPECT_EQ(commit_acquire(client, slots), KVC_STALE);
  for (const kvc_slot& slot : slots) {
    EXPECT_EQ(slot.code, KVC_STALE);
    EXPECT_EQ(slot.data, nullptr);
  }
  EXPECT_EQ(kvc_lease_held(client.lease), 0U);
  EXPECT_EQ(daemon.pinned_count(), 0U);
}

TEST(ClientCommitAcquire, RefusesWhatCannotBe) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  const TestClient other(daemon.path());
  std::vector<kvc_slot> slots = client.reserve(keys_from(0, 1));
  EXPECT_EQ(kvc_commit_acquire(client.space, slots.data(), 1, 0, other.lease), KVC_INVALID);
  EXPECT_EQ(kvc_commit_acquire(client.space, nullptr, 1, 0, client.lease), KVC_INVALID);
  std::vector<kvc_slot> others = other.reserve(keys_from(5, 1));
  EXPECT_EQ(kvc_commit_acquire(client.space, others.data(), 1, 0, client.lease), KVC_INVALID);
  EXPECT_NE(others[0].data, nullptr) << "nothing was done";
  EXPECT_EQ(kvc_lease_held(client.lease), 0U);
  EXPECT_EQ(daemon.pinned_count(), 0U);
}

}  // namespace
}  // namespace kvtier::test
