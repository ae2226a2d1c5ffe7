// What the store says to reclaim, what it does when copies move or go, and who gives way when records run short.

#include "tests/unit/flow/disk_fixture.h"

namespace kvtier::test {
namespace {

class Reclaim : public DiskFixture {
 protected:
  void SetUp() override {
    make_disk_store(8);
    client_ = &add_client();
    space_ = usual_space(*client_);
    put_chain(*client_, space_, cold_);
    settle();
    put_chain(*client_, space_, warm_);
    settle();
  }
  ReclaimAnswer ask(std::uint64_t sequence) {
    port_->ask(sequence, ++tag_);
    settle();
    EXPECT_TRUE(port_->answers.contains(tag_));
    return port_->answers[tag_];
  }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
  std::uint64_t tag_ = 0;
  const std::vector<Key> cold_ = keys_of(1, 8);
  const std::vector<Key> warm_ = keys_of(2, 8);
};

TEST_F(Reclaim, WhatWasNotUsedIsGivenUp) {
  const std::uint64_t sequence = sequence_of(space_, cold_[0]);
  EXPECT_EQ(ask(sequence), ReclaimAnswer::kDrop);
  EXPECT_EQ(client_->match(space_, cold_[0]), 0);
  EXPECT_EQ(ask(sequence), ReclaimAnswer::kDead) << "nobody's any more";
}

// A block that was read once was never given up, and what came later never stayed.
TEST_F(Reclaim, EachUseGivesACopyOneChanceMore) {
  (void)client_->simple(Op::kRestore, space_, {cold_[0]});
  settle();
  advance(120 * kNsPerSecond);
  EXPECT_EQ(ask(sequence_of(space_, cold_[0])), ReclaimAnswer::kKeep);
  port_->move(sequence_of(space_, cold_[0]));
  settle();
  EXPECT_EQ(ask(sequence_of(space_, cold_[0])), ReclaimAnswer::kDrop) << "not used since it was moved";
}

TEST_F(Reclaim, ABlockThatIsReadInMemoryIsUsed) {
  std::optional<SimLease> lease = client_->acquire(space_, warm_[0]);
  ASSERT_TRUE(lease.has_value());
  SimClient::release(*lease);
  client_->log_access(space_, warm_[0], 1);
  settle();
  EXPECT_EQ(ask(sequence_of(space_, warm_[0])), ReclaimAnswer::kKeep);
  EXPECT_EQ(ask(sequence_of(space_, warm_[1])), ReclaimAnswer::kDrop);
  EXPECT_EQ(client_->match(space_, warm_[1]), 1) << "without its copy";
}

// A full tier drops what it has for what it gets: were that written again by itself, it would never end.
TEST_F(Reclaim, ABlockInMemoryThatLosesItsCopyIsWrittenAgainWhenSlotsAreNeeded) {
  const std::uint64_t sequence = sequence_of(space_, warm_[0]);
  const std::uint64_t puts = port_->puts;
  EXPECT_EQ(ask(sequence), ReclaimAnswer::kDrop);
  port_->drop(sequence_of(space_, warm_[1]));
  for (int i = 0; i < 10; ++i) advance(kNsPerSecond);
  EXPECT_EQ(client_->match(space_, warm_[0]), 1);
  EXPECT_EQ(port_->puts, puts);
  EXPECT_EQ(stats().disk_lost, 1U);
  put(*client_, space_, keys_of(3, 1));
  settle();
  EXPECT_GT(sequence_of(space_, warm_[0]), sequence);
}

TEST_F(Reclaim, ACopyThatMovesIsReadWhereItIs) {
  port_->move(sequence_of(space_, cold_[0]));
  settle();
  EXPECT_EQ(call(*client_, Op::kRestore, space_, {cold_[0]}).count, 1U);
  settle();
  expect_bytes(*client_, space_, {cold_[0]});
}

// The get that was sent before is stale; the block is where it went.
TEST_F(Reclaim, ACopyThatMovesUnderAGetIsNotLost) {
  port_->is_automatic = false;
  (void)client_->simple(Op::kRestore, space_, {cold_[0]});
  (void)store_->do_work();
  port_->move(sequence_of(space_, cold_[0]));
  settle();
  port_->is_automatic = true;
  settle();
  EXPECT_EQ(client_->match(space_, cold_[0]), 3);
  EXPECT_EQ(call(*client_, Op::kRestore, space_, {cold_[0]}).count, 1U);
  settle();
  expect_bytes(*client_, space_, {cold_[0]});
}

TEST_F(Reclaim, AColdBlockWhoseCopyGoesIsGone) {
  port_->drop(sequence_of(space_, cold_[3]));
  settle();
  EXPECT_EQ(client_->match(space_, cold_[3]), 0);
  EXPECT_EQ(stats().blocks_cold, 7U);
}

// As a restore that fails: the first time it is in doubt, and a reservation takes the key anew; the second time it goes.
TEST_F(Reclaim, WhatTheScrubCannotReadIsInDoubtAndThenGone) {
  port_->cannot_read(sequence_of(space_, cold_[3]));
  port_->cannot_read(sequence_of(space_, cold_[4]));
  settle();
  EXPECT_EQ(client_->match(space_, cold_[3]), 3);
  EXPECT_EQ(stats().disk_lost, 0U);
  EXPECT_EQ(call(*client_, Op::kRestore, space_, {cold_[3]}).count, 1U);
  settle();
  expect_bytes(*client_, space_, {cold_[3]});
  port_->cannot_read(sequence_of(space_, cold_[4]));
  port_->cannot_read(sequence_of(space_, warm_[1]));
  settle();
  EXPECT_EQ(client_->match(space_, cold_[4]), 0);
  EXPECT_EQ(client_->match(space_, warm_[1]), 1) << "without its copy";
  EXPECT_EQ(stats().disk_lost, 2U);
}

// It was read, and written anew.
TEST_F(Reclaim, ACopyThatWasMovedIsInNoDoubt) {
  port_->cannot_read(sequence_of(space_, cold_[3]));
  port_->move(sequence_of(space_, cold_[3]));
  settle();
  port_->cannot_read(sequence_of(space_, cold_[3]));
  settle();
  EXPECT_EQ(client_->match(space_, cold_[3]), 3);
}

TEST_F(DiskFixture, TheColdestOnDiskGiveWayWhenRecordsRunOut) {
  make_disk_store(8, {.blocks_max = 24});
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  for (std::uint64_t chain = 1; chain <= 8; ++chain) {
    put_chain(client, space, keys_of(chain, 8));
    settle();
    EXPECT_EQ(count_ready(client, space, keys_of(chain, 8)), 8U);
  }
  EXPECT_GT(stats().cold_dropped, 0U);
  EXPECT_LE(stats().blocks_cold, 16U);
  EXPECT_GE(count_cold(client, space, keys_of(7, 8)), 6U) << "the hottest of them are there";
  EXPECT_EQ(count_cold(client, space, keys_of(1, 8)), 0U);
}

TEST_F(DiskFixture, TheDirectoryGrowsForWhatIsOnDiskOnly) {
  make_disk_store(64, {.blocks_max = 20000});
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  for (std::uint64_t chain = 1; chain <= 96; ++chain) {
    put_chain(client, space, keys_of(chain, 64));
    settle();
  }
  EXPECT_EQ(stats().evictions_unsaved, 0U);
  EXPECT_EQ(stats().blocks_cold, 95U * 64);
  EXPECT_GT(stats().directory_capacity, 95U * 64);
  EXPECT_EQ(count_cold(client, space, keys_of(1, 64)), 64U);
}

}  // namespace
}  // namespace kvtier::test
