// What an earlier life left on disk is found again, in any order, whatever is in memory already.

#include "daemon/flow/admin.h"
#include "libkvclient/base/checksum.h"
#include "tests/support/store_restart.h"
#include "tests/unit/flow/disk_fixture.h"

namespace kvtier::test {
namespace {

class Recovery : public DiskFixture {
 protected:
  // A chain of 24 blocks on disk, eight of them in memory as well.
  void first_life() {
    make_disk_store(8, {.blocks_max = 64});
    SimClient& client = add_client();
    const SpaceId space = usual_space(client);
    for (const auto& [first, count] : {std::pair(0, 8), std::pair(8, 8), std::pair(16, 8)}) {
      const auto keys = keys_of(1, static_cast<std::size_t>(count), static_cast<std::uint64_t>(first));
      commit(client, reserve(client, space, keys, true,
                             first == 0 ? Key{} : keys_of(1, 1, static_cast<std::uint64_t>(first - 1))[0]));
      settle();
    }
    ASSERT_EQ(disk_.copies.size(), 24U);
  }
  void begin(std::uint64_t slots = 8, const StoreOptions& options = {}) {
    restart_cold(slots, options);
    client_ = &add_client();
    space_ = usual_space(*client_);
  }
  /// Each block lies under the one before it.
  void expect_chain() {
    for (std::size_t i = 1; i < keys_.size(); ++i) {
      const BlockRecord* record = record_of(space_, keys_[i]);
      ASSERT_NE(record, nullptr);
      ASSERT_NE(record->parent, BlockId::kNone) << i;
      EXPECT_EQ(store_->state().blocks[record->parent].key, keys_[i - 1]);
    }
    EXPECT_EQ(store_->state().disk->orphans.size(), 0U);
  }

  const std::vector<Key> keys_ = keys_of(1, 24);
  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

TEST_F(Recovery, BlocksAreColdAgainUnderTheirParentsAndCanBeRestored) {
  first_life();
  begin();
  EXPECT_EQ(stats().disk_recovered, 24U);
  EXPECT_EQ(states_of(*client_, space_, keys_), std::vector<int>(24, 3));
  expect_chain();
  const std::vector<Key> some(keys_.begin(), keys_.begin() + 6);
  EXPECT_EQ(call(*client_, Op::kRestore, space_, some).count, 6U);
  settle();
  expect_bytes(*client_, space_, some);
}

TEST_F(Recovery, OrphansFindTheirParentsInAnyOrder) {
  first_life();
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    Prng chance(seed);
    prepare_ = [&](FakeDiskPort& port) { port.chance = &chance; };
    begin();
    expect_chain();
    port_->chance = nullptr;
  }
}

TEST_F(Recovery, GoesOnBehindReadyWhileClientsWork) {
  first_life();
  prepare_ = [](FakeDiskPort& port) { port.entries_at_once = 0; };
  begin();
  put_chain(*client_, space_, {keys_[0], keys_[1], pattern_key(7, 7)});
  EXPECT_FALSE(port_->is_ready());
  port_->entries_at_once = 1;
  settle();
  EXPECT_TRUE(port_->is_ready());
  expect_bytes(*client_, space_, {keys_[0], keys_[1]});
  EXPECT_NE(record_of(space_, keys_[1])->flags & kBlockOnDisk, 0) << "the copy is that block's";
  EXPECT_EQ(count_cold(*client_, space_, keys_), 22U);
}

TEST_F(Recovery, TheLaterOfTwoCopiesCounts) {
  first_life();
  const std::uint64_t later = disk_.next_sequence++;
  disk_.copies[later] = disk_.copies.at(1);
  const std::uint64_t latest = disk_.next_sequence++;
  disk_.copies[latest] = disk_.copies.at(1);
  const Key key = disk_.copies.at(1).key;
  Prng chance(3);
  prepare_ = [&](FakeDiskPort& port) { port.chance = &chance; };
  begin();
  EXPECT_EQ(sequence_of(space_, key), latest);
  EXPECT_EQ(port_->forgets, 2U);
}

TEST_F(Recovery, WhatFindsNoPlaceIsForgottenAndCounted) {
  first_life();
  begin(8, {.blocks_max = 20});
  EXPECT_GT(stats().disk_refused, 0U);
  EXPECT_EQ(stats().disk_refused + stats().disk_recovered, 24U);
  EXPECT_EQ(port_->forgets, stats().disk_refused);
  EXPECT_EQ(stats().index_drops, stats().disk_refused);
  const std::vector<std::string> complaints = store_->admin().complaints();
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_NE(complaints[0].find("raise nvme.blocks_max, or index.blocks_max"), std::string::npos)
      << complaints[0];
  put(*client_, space_, keys_of(5, 8));
  EXPECT_EQ(count_ready(*client_, space_, keys_of(5, 8)), 8U) << "blocks in memory always find a record";
}

// The tier tells the newest first: they are the last to leave.
TEST_F(Recovery, WhatIsToldFirstLeavesLast) {
  first_life();
  begin(8, {.blocks_max = 32});
  ASSERT_EQ(count_cold(*client_, space_, keys_), 24U);
  put(*client_, space_, keys_of(5, 8));
  EXPECT_GT(stats().index_drops, 0U);
  ASSERT_LT(count_cold(*client_, space_, keys_), 24U);
  EXPECT_EQ(client_->match(space_, keys_[0]), 3) << "the fake tells of the first block first";
}

TEST_F(Recovery, ASpecThatCannotBeKnownAgainIsForgotten) {
  first_life();
  restart_cold(8, {.spaces_max = 1});
  SimClient& client = add_client();
  EXPECT_EQ(usual_space(client), SpaceId{1}) << "the same one, under the id that recovery gave it";
  disk_.catalog.clear();
  restart_cold(8);
  EXPECT_EQ(stats().disk_refused, 24U);
}

TEST_F(Recovery, TheFirstClientBringsTheLimitOfItsNamespace) {
  first_life();
  restart_cold(8);
  SessionRequest request;
  request.namespace_name = "main";
  request.namespace_bytes_max = 4 * kBlock;
  ASSERT_TRUE(store_->session_open(request).is_ok());
  EXPECT_EQ(store_->state().tenants[0].bytes_max, 4 * kBlock);
}

TEST_F(Recovery, ATierThatDoesNotOpenIsDoneWithout) {
  first_life();
  prepare_ = [](FakeDiskPort& port) { port.is_refused = true; };
  begin();
  put(*client_, space_, keys_of(3, 8));
  put(*client_, space_, keys_of(4, 8));
  EXPECT_EQ(stats().evictions, 8U);
  EXPECT_EQ(port_->puts, 0U);
}

// Warm: the memory of the earlier life is there too.
class WarmRecovery : public Recovery {
 protected:
  void restart_warm() {
    keep_pidfd(*store_, *clients_[0]);
    settle();
    sum_all();
    store_.reset();
    port_ = std::make_unique<FakeDiskPort>(disk_);
    if (prepare_) prepare_(*port_);
    make_disk_store(8, {.blocks_max = 64});
    ASSERT_TRUE(store_->cold_reason().empty()) << store_->cold_reason();
    client_ = clients_[0].get();
    resume_session(*store_, *client_);
    space_ = usual_space(*client_);
  }
  void sum_all() {
    advance(2 * kNsPerSecond);
    while (const std::optional<ChecksumJob> job = store_->checksum_next())
      store_->checksum_done(*job, checksum64(job->bytes));
  }
};

TEST_F(WarmRecovery, AnAdoptedBlockAndItsCopyAreOneBlock) {
  first_life();
  restart_warm();
  EXPECT_EQ(count_cold(*client_, space_, keys_), 24U) << "found on disk, not verified in memory yet";
  sum_all();
  settle();
  EXPECT_EQ(stats().blocks_adopted, 8U);
  EXPECT_EQ(count_ready(*client_, space_, keys_), 8U);
  EXPECT_EQ(count_cold(*client_, space_, keys_), 16U);
  const std::vector<Key> warm(keys_.begin() + 16, keys_.end());
  expect_bytes(*client_, space_, warm);
  expect_chain();
  EXPECT_EQ(port_->forgets, 0U);
}

TEST_F(WarmRecovery, TheSameWhenMemoryIsVerifiedFirst) {
  first_life();
  opens_ = false;
  restart_warm();
  sum_all();
  settle();
  EXPECT_EQ(count_ready(*client_, space_, keys_), 8U);
  EXPECT_EQ(stats().blocks_ready, 8U);
  for (std::size_t i = 16; i < 24; ++i) EXPECT_NE(record_of(space_, keys_[i])->flags & kBlockOnDisk, 0);
  expect_chain();
}

TEST_F(WarmRecovery, WrongBytesInMemoryLeaveTheCopyOnDisk) {
  first_life();
  const BlockRecord& record = *record_of(space_ = SpaceId{1}, keys_[20]);
  sum_all();
  clients_[0]->bytes_of(record.slot, kBlock)[100] ^= std::byte{1};
  restart_warm();
  sum_all();
  settle();
  EXPECT_EQ(stats().checksum_failures, 1U);
  EXPECT_EQ(client_->match(space_, keys_[20]), 3);
  EXPECT_EQ(count_ready(*client_, space_, keys_), 7U);
}

TEST_F(WarmRecovery, ABlockThatWasBeingRestoredIsColdAgain) {
  first_life();
  port_->is_automatic = false;
  (void)clients_[0]->simple(Op::kRestore, SpaceId{1}, {keys_[0], keys_[1]});
  (void)store_->do_work();
  EXPECT_EQ(port_->open_count(), 2U);
  restart_warm();
  sum_all();
  settle();
  EXPECT_EQ(count_cold(*client_, space_, keys_) + count_ready(*client_, space_, keys_), 24U);
  EXPECT_EQ(stats().slots_free, 8 - stats().blocks_ready) << "no slot leaked";
  EXPECT_EQ(call(*client_, Op::kRestore, space_, {keys_[0], keys_[1]}).count, 2U);
  settle();
  expect_bytes(*client_, space_, {keys_[0], keys_[1]});
}

}  // namespace
}  // namespace kvtier::test
