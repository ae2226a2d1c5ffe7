// kRestore: what is on disk comes back, once, with its own bytes, or is a miss with its slot back.

#include "tests/unit/flow/disk_fixture.h"

namespace kvtier::test {
namespace {

class RestoreTest : public DiskFixture {
 protected:
  // Eight slots; chain 1 has gone to disk, chain 2 has taken its place.
  void SetUp() override {
    make_disk_store(8);
    client_ = &add_client();
    space_ = usual_space(*client_);
    put_chain(*client_, space_, cold_);
    settle();
    put_chain(*client_, space_, warm_);
    settle();
    ASSERT_EQ(count_cold(*client_, space_, cold_), 8U);
  }

  std::uint32_t restore(const std::vector<Key>& keys, TimeNs deadline_ns = 0) {
    const std::uint32_t request = client_->simple(Op::kRestore, space_, keys, 0, deadline_ns);
    deliver();
    EXPECT_TRUE(client_->is_answered(request)) << "at once";
    return request;
  }
  Completion restored(const std::vector<Key>& keys, TimeNs deadline_ns = 0) {
    return client_->completion(restore(keys, deadline_ns));
  }
  std::vector<Key> first(std::size_t count) const {
    return {cold_.begin(), cold_.begin() + static_cast<long>(count)};
  }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
  const std::vector<Key> cold_ = keys_of(1, 8);
  const std::vector<Key> warm_ = keys_of(2, 8);
};

TEST_F(RestoreTest, BringsColdBlocksBackWithTheirBytes) {
  const Completion answer = restored(first(4));
  EXPECT_EQ(answer.code, Code::kOk);
  EXPECT_EQ(answer.count, 4U);
  EXPECT_EQ(states_of(*client_, space_, first(4)), std::vector<int>(4, 2)) << "pending until they are there";
  settle();
  expect_bytes(*client_, space_, first(4));
  EXPECT_EQ(stats().hits_disk, 4U);
  EXPECT_EQ(stats().restored_bytes, 4 * kBlock);
  EXPECT_EQ(stats().blocks_restoring, 0U);
}

TEST_F(RestoreTest, AWaitEndsWhenTheyAreThere) {
  port_->is_automatic = false;
  restore(first(2));
  const std::uint32_t wait = client_->simple(Op::kWait, space_, first(3));
  settle();
  EXPECT_FALSE(client_->is_answered(wait));
  port_->answer();
  settle();
  ASSERT_TRUE(client_->is_answered(wait));
  EXPECT_EQ(client_->completion(wait).count, 2U);
}

TEST_F(RestoreTest, CountsLeadingKeysThatAreThereOrOnTheirWay) {
  std::vector<Key> keys = {warm_[0], cold_[0], warm_[1], cold_[1]};
  keys.push_back(pattern_key(9, 9));
  keys.push_back(cold_[2]);
  EXPECT_EQ(restored(keys).count, 4U) << "behind a miss nothing is of use";
  settle();
  EXPECT_EQ(port_->gets, 2U);
  EXPECT_EQ(restored({warm_[0], cold_[0]}).count, 2U);
  EXPECT_EQ(port_->gets, 2U) << "nothing to be read";
}

TEST_F(RestoreTest, EqualRestoresJoinAndAKeyTwiceIsOne) {
  port_->is_automatic = false;
  EXPECT_EQ(restored({cold_[0], cold_[0], cold_[1]}).count, 3U);
  EXPECT_EQ(restored(first(2)).count, 2U);
  settle();
  port_->answer();
  settle();
  EXPECT_EQ(port_->gets, 2U);
  EXPECT_EQ(stats().restores, 2U);
}

TEST_F(RestoreTest, KeysThatFollowEachOtherAreOneGroup) {
  restore(cold_);
  settle();
  ASSERT_EQ(port_->get_groups.size(), 1U);
  EXPECT_EQ(port_->get_groups[0], cold_);
}

TEST_F(RestoreTest, EvictsCleanBlocksButNoneOfItsOwnKeys) {
  const std::vector<Key> keys = {warm_[0], warm_[1], cold_[0], cold_[1], cold_[2]};
  EXPECT_EQ(restored(keys).count, 5U);
  settle();
  EXPECT_EQ(count_ready(*client_, space_, keys), 5U);
  EXPECT_EQ(stats().evictions_unsaved, 0U);
}

// The coldest block in memory is one of the keys: it does not make room for the others.
TEST_F(RestoreTest, WhatIsCountedIsThereWhenItIsOver) {
  const std::vector<Key> keys = {warm_[7], cold_[0], cold_[1]};
  const Completion answer = restored(keys);
  settle();
  const std::vector<Key> counted(keys.begin(), keys.begin() + answer.count);
  EXPECT_EQ(count_ready(*client_, space_, counted), counted.size());
}

TEST_F(RestoreTest, SaysWhatFoundNoSlot) {
  std::vector<SimLease> leases;
  for (std::size_t i = 0; i < 6; ++i) leases.push_back(*client_->acquire(space_, warm_[i]));
  const Completion answer = restored(cold_);
  EXPECT_EQ(answer.code, Code::kNoSpace);
  EXPECT_EQ(answer.cause, Cause::kTierFull);
  EXPECT_EQ(answer.count, 2U);
  settle();
  EXPECT_EQ(count_ready(*client_, space_, first(2)), 2U);
  for (SimLease& lease : leases) {
    expect_exact(lease);
    SimClient::release(lease);
  }
}

TEST_F(RestoreTest, WhatFailsIsColdAgainAndAMissToWhoWaits) {
  port_->ending = [](const DiskCommand&) { return FakeDiskPort::Ending{.code = Code::kDeadline}; };
  port_->is_automatic = false;
  restore(first(2), 77);
  const std::uint32_t wait = client_->simple(Op::kWait, space_, first(2));
  settle();
  port_->answer();
  settle();
  EXPECT_EQ(client_->completion(wait).count, 0U);
  EXPECT_EQ(count_cold(*client_, space_, first(2)), 2U);
  EXPECT_EQ(stats().restores_failed, 2U);
  EXPECT_EQ(stats().slots_free, 2U);
  port_->ending = nullptr;
  port_->is_automatic = true;
  EXPECT_EQ(restored(first(2)).count, 2U);
  settle();
  expect_bytes(*client_, space_, first(2));
}

// A path that failed for good must not keep a key from ever being cached again.
TEST_F(RestoreTest, WhatCouldNotBeReadIsReservedAnew) {
  EXPECT_EQ(reserve(*client_, space_, {cold_[0]})[0].result.code, Code::kExists);
  port_->ending = [](const DiskCommand&) { return FakeDiskPort::Ending{.code = Code::kUnavailable}; };
  restore({cold_[0]});
  settle();
  port_->ending = nullptr;
  put(*client_, space_, {cold_[0]});
  EXPECT_EQ(client_->match(space_, cold_[0]), 1);
}

// One error of the device costs no block; two in a row are the end of a copy, so that nobody asks for it for ever.
TEST_F(RestoreTest, WhatTheDeviceCouldNotReadStaysAndGoesTheSecondTime_C08) {
  const auto fail = [&](std::size_t count) {
    port_->ending = [](const DiskCommand&) { return FakeDiskPort::Ending{.code = Code::kSystem}; };
    restore(first(count));
    settle();
    port_->ending = nullptr;
  };
  fail(2);
  EXPECT_EQ(count_cold(*client_, space_, first(2)), 2U);
  EXPECT_EQ(stats().restores_failed, 2U);
  EXPECT_EQ(stats().disk_lost, 0U);
  restore({cold_[0]});
  settle();
  expect_bytes(*client_, space_, {cold_[0]});
  put_chain(*client_, space_, keys_of(3, 8));  // drives it out again, with the copy that it has
  settle();
  ASSERT_EQ(count_cold(*client_, space_, first(2)), 2U);
  fail(2);
  EXPECT_EQ(states_of(*client_, space_, first(2)), (std::vector<int>{3, 0})) << "a good read between";
  EXPECT_EQ(stats().disk_lost, 1U);
  fail(1);
  EXPECT_EQ(client_->match(space_, cold_[0]), 0);
  EXPECT_EQ(stats().disk_lost, 2U);
}

// A path that does not answer, or is left alone, says nothing about its blocks.
TEST_F(RestoreTest, WhatIsLateOrNotAskedForStaysHoweverOften) {
  for (const Code code : {Code::kDeadline, Code::kUnavailable, Code::kDeadline, Code::kUnavailable}) {
    port_->ending = [code](const DiskCommand&) { return FakeDiskPort::Ending{.code = code}; };
    restore({cold_[0]});
    settle();
  }
  port_->ending = nullptr;
  EXPECT_EQ(count_cold(*client_, space_, {cold_[0]}), 1U);
  EXPECT_EQ(stats().disk_lost, 0U);
}

TEST_F(RestoreTest, WhatIsGoneOnDiskIsGone) {
  disk_.copies.at(sequence_of(space_, cold_[0])).is_corrupt = true;
  disk_.copies.erase(sequence_of(space_, cold_[1]));  // stale: its segment was used anew
  restore(first(3));
  settle();
  EXPECT_EQ(states_of(*client_, space_, first(3)), (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(stats().disk_lost, 2U);
}

TEST_F(RestoreTest, ASlotThatTheDeviceHoldsIsNotUsed) {
  port_->ending = [](const DiskCommand&) {
    return FakeDiskPort::Ending{.code = Code::kDeadline, .is_held = true};
  };
  restore(first(4));
  settle();
  EXPECT_EQ(port_->held_count(), 4U);
  EXPECT_EQ(count_cold(*client_, space_, first(4)), 4U);
  EXPECT_EQ(stats().slots_free, 0U);
  port_->ending = nullptr;
  EXPECT_EQ(restored(first(4)).count, 4U) << "into other slots, while those are held";
  settle();
  port_->release();
  settle();
  EXPECT_EQ(stats().slots_free, 4U);
  expect_bytes(*client_, space_, first(4));
}

TEST_F(RestoreTest, RightBytesThatTheDeviceStillHoldsAreNotShown) {
  port_->ending = [](const DiskCommand&) { return FakeDiskPort::Ending{.is_held = true}; };
  restore({cold_[0]});
  settle();
  EXPECT_EQ(client_->match(space_, cold_[0]), 3);
}

TEST_F(RestoreTest, GoesOnWithoutWhoAskedForIt) {
  port_->is_automatic = false;
  restore(first(3));
  (void)client_->simple(Op::kWait, space_, first(3));
  settle();
  end_process(*client_);
  port_->is_automatic = true;
  settle();
  SimClient& other = add_client();
  (void)usual_space(other);
  EXPECT_EQ(count_ready(other, space_, first(3)), 3U);
}

TEST_F(RestoreTest, TheDeadlineGoesToTheTier) {
  TimeNs seen = 0;
  port_->ending = [&](const DiskCommand& command) {
    seen = command.deadline_ns;
    return FakeDiskPort::Ending{};
  };
  restore({cold_[0]}, 12345);
  settle();
  EXPECT_EQ(seen, 12345U);
  restore({cold_[1]});
  settle();
  EXPECT_EQ(seen, kNever);
}

TEST_F(RestoreTest, AReservationOfWhatComesBackIsPending) {
  port_->is_automatic = false;
  restore({cold_[0]});
  EXPECT_EQ(reserve(*client_, space_, {cold_[0]})[0].result.code, Code::kPending);
}

TEST_F(RestoreTest, AWrongCommandEndsItsSessionAndAMissIsNone) {
  EXPECT_EQ(restored({pattern_key(9, 9)}).count, 0U);
  (void)client_->simple(Op::kRestore, space_, {});
  deliver();
  EXPECT_TRUE(client_->is_ended());
}

TEST_F(DiskFixture, WithoutADiskWhatIsInMemoryIsCounted) {
  make_store(8);
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  put(client, space, keys_of(1, 2));
  const Completion answer = call(client, Op::kRestore, space, keys_of(1, 4));
  EXPECT_EQ(answer.code, Code::kOk);
  EXPECT_EQ(answer.count, 2U);
  settle();
  check_store(*store_);
  store_.reset();
}

}  // namespace
}  // namespace kvtier::test
