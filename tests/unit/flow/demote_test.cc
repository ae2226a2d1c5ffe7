// Blocks are on disk before they leave memory: what is written, when, in which order, and what happens when it is not.

#include "daemon/flow/demote.h"
#include "tests/unit/flow/disk_fixture.h"

namespace kvtier::test {
namespace {

using Demote = DiskFixture;

FakeDiskPort::Ending fails(const DiskCommand&) {
  return {.code = Code::kSystem};
}

TEST_F(Demote, NothingIsWrittenWhileThereIsRoom) {
  make_disk_store(64);
  SimClient& client = add_client();
  put_chain(client, usual_space(client), keys_of(1, 8));
  settle();
  EXPECT_EQ(port_->puts, 0U);
}

TEST_F(Demote, TheColdEndIsCleanBeforeAnybodyNeedsIt) {
  make_disk_store(16);
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  put_chain(client, space, keys_of(1, 16));
  settle();
  EXPECT_EQ(stats().demotions, 16U);
  EXPECT_EQ(stats().demoted_bytes, 16 * kBlock);
  put_chain(client, space, keys_of(2, 8));
  EXPECT_EQ(stats().evictions, 8U);
  EXPECT_EQ(stats().evictions_unsaved, 0U);
  EXPECT_EQ(count_cold(client, space, keys_of(1, 16)), 8U) << "found in the directory, on disk";
  EXPECT_EQ(count_ready(client, space, keys_of(1, 8)), 8U) << "the head of the prefix stays";
}

TEST_F(Demote, APrefixGoesAsOneGroupRootFirstWithItsParents) {
  make_disk_store(16);
  SimClient& client = add_client();
  const std::vector<Key> keys = keys_of(1, 16);
  put_chain(client, usual_space(client), keys);
  settle();
  ASSERT_EQ(port_->put_groups.size(), 1U);
  EXPECT_EQ(port_->put_groups[0], keys);
  for (const auto& [sequence, copy] : disk_.copies) {
    const auto at = std::find(keys.begin(), keys.end(), copy.key);
    EXPECT_EQ(copy.parent, at == keys.begin() ? Key{} : *std::prev(at));
  }
}

TEST_F(Demote, AGroupIsNoLargerThanTheTierTakesAndPutsAreBounded) {
  constexpr std::uint32_t kBlocks = kPutsOpenMax + 64;
  make_disk_store(kBlocks, {.disk_write = DiskWrite::kThrough});
  SimClient& client = add_client();
  port_->is_automatic = false;
  put_chain(client, usual_space(client), keys_of(1, kBlocks));
  settle();
  EXPECT_EQ(port_->open_count(), kPutsOpenMax);
  EXPECT_EQ(stats().disk_bytes_writing, kPutsOpenMax * kBlock);
  for (const auto& group : port_->put_groups) EXPECT_LE(group.size(), kDiskGroupMax);
  port_->answer();
  settle();
  port_->answer();
  settle();
  EXPECT_EQ(stats().demotions, kBlocks);
  EXPECT_EQ(stats().disk_bytes_writing, 0U);
}

TEST_F(Demote, ThroughWritesEveryCommittedBlockAndARunIsOneGroup) {
  make_disk_store(64, {.disk_write = DiskWrite::kThrough});
  SimClient& client = add_client();
  const std::vector<Key> keys = keys_of(1, 12);
  put_chain(client, usual_space(client), keys);
  settle();
  ASSERT_EQ(port_->put_groups.size(), 1U);
  EXPECT_EQ(port_->put_groups[0], keys);
}

TEST_F(Demote, AReservationWaitsForAPutAndEvictsWhatIsClean) {
  make_disk_store(8);
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  port_->is_automatic = false;
  put_chain(client, space, keys_of(1, 8));
  settle();
  const std::uint32_t request = client.reserve(space, keys_of(2, 2), {});
  settle();
  EXPECT_FALSE(client.is_answered(request));
  EXPECT_EQ(stats().reserves_deferred, 1U);
  port_->answer();
  settle();
  ASSERT_TRUE(client.is_answered(request));
  EXPECT_EQ(client.completion(request).code, Code::kOk);
  EXPECT_EQ(stats().evictions_unsaved, 0U);
}

// Never silent, and never longer than the setting says.
TEST_F(Demote, WhatIsNotSavedInTimeIsEvictedAndCounted) {
  make_disk_store(320, {.disk_wait_ns = 5 * kNsPerMs});
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  port_->is_automatic = false;
  put_chain(client, space, keys_of(1, 320));
  settle();
  const std::uint32_t request = client.reserve(space, keys_of(2, 4), {});
  settle();
  EXPECT_FALSE(client.is_answered(request));
  EXPECT_EQ(store_->next_deadline(), clock_.now_ns() + 5 * kNsPerMs);
  advance(5 * kNsPerMs);
  // The coldest are being written: a device reads them, they stay. Above them nothing can leave.
  ASSERT_TRUE(client.is_answered(request));
  EXPECT_EQ(client.completion(request).cause, Cause::kTierFull);
  port_->answer();
  settle();
  EXPECT_EQ(reserve(client, space, keys_of(2, 4)).size(), 4U);
}

TEST_F(Demote, WithoutAPutInTheWayTheColdestUnsavedLeave) {
  make_disk_store(16, {.disk_wait_ns = 5 * kNsPerMs});
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  port_->ending = fails;
  put_chain(client, space, keys_of(1, 16));
  settle();
  EXPECT_GE(stats().demotions_failed, 16U);
  EXPECT_EQ(reserve(client, space, keys_of(2, 4)).size(), 4U) << "no put is taken: nothing to wait for";
  EXPECT_EQ(stats().evictions_unsaved, 4U);
  EXPECT_EQ(count_cold(client, space, keys_of(1, 16)), 0U);
}

TEST_F(Demote, WhatFailedStaysDirtyAndIsTriedAgainLater) {
  make_disk_store(16);
  SimClient& client = add_client();
  port_->ending = fails;
  put_chain(client, usual_space(client), keys_of(1, 16));
  settle();
  const std::uint64_t tried = port_->puts;
  settle();
  EXPECT_EQ(port_->puts, tried) << "not before the pause is over";
  EXPECT_GT(store_->next_deadline(), clock_.now_ns());
  EXPECT_NE(store_->next_deadline(), kNever);
  port_->ending = nullptr;
  clock_.advance(store_->next_deadline() - clock_.now_ns());
  settle();
  EXPECT_EQ(stats().demotions, 16U);
}

// Some puts succeed, some do not: what a full tier takes costs it other copies, so this ends although nothing is better.
TEST_F(Demote, NobodyNeedsSlotsSoATierThatFailsIsLeftAlone) {
  make_disk_store(16);
  SimClient& client = add_client();
  port_->ending = [](const DiskCommand& command) {
    return FakeDiskPort::Ending{.code = command.tag % 2 == 0 ? Code::kNoSpace : Code::kOk};
  };
  const SpaceId space = usual_space(client);
  put(client, space, keys_of(1, 16));
  for (int i = 0; i < 100; ++i) advance(kNsPerSecond);
  const std::uint64_t tried = port_->puts;
  EXPECT_EQ(stats().demotions, 8U);
  for (int i = 0; i < 100; ++i) advance(kNsPerSecond);
  EXPECT_EQ(port_->puts, tried);
  EXPECT_LT(tried, 8U + 16 * 8);
  port_->ending = nullptr;
  put(client, space, keys_of(2, 1));
  settle();
  EXPECT_EQ(stats().demotions_failed + stats().demotions, port_->puts);
  EXPECT_GT(port_->puts, tried) << "somebody does";
}

TEST_F(Demote, BlocksThatTheTierDoesNotTakeAreNotTriedAgainAndNotWaitedFor) {
  make_disk_store(8);
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  port_->ending = [](const DiskCommand&) { return FakeDiskPort::Ending{.code = Code::kInvalid}; };
  put_chain(client, space, keys_of(1, 8));
  settle();
  const std::uint64_t tried = port_->puts;
  advance(10 * kNsPerSecond);
  EXPECT_EQ(port_->puts, tried);
  EXPECT_EQ(reserve(client, space, keys_of(2, 2)).size(), 2U);
}

TEST_F(Demote, ATierThatTakesNoPutsIsNotWaitedFor) {
  make_disk_store(8);
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  port_->takes_puts_now = false;
  put_chain(client, space, keys_of(1, 8));
  EXPECT_EQ(reserve(client, space, keys_of(2, 2)).size(), 2U);
  EXPECT_EQ(stats().evictions_unsaved, 2U);
  EXPECT_EQ(port_->puts, 0U);
}

TEST_F(Demote, P_11_while_the_budget_is_low_only_what_was_used_is_saved) {
  make_disk_store(8);
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  port_->wants_evidence_now = true;
  put_chain(client, space, keys_of(1, 4));
  put_chain(client, space, keys_of(2, 4));
  // The end of the second prefix alone is used: what it continues goes with it.
  client.log_access(space, keys_of(2, 4)[3], 1);
  settle();
  put_chain(client, space, keys_of(3, 8));
  settle();
  EXPECT_EQ(count_cold(client, space, keys_of(1, 4)), 0U);
  EXPECT_EQ(count_cold(client, space, keys_of(2, 4)), 4U);
  EXPECT_EQ(port_->puts, 4U);
  EXPECT_EQ(stats().evictions_not_admitted, 4U);
  EXPECT_EQ(stats().evictions_unsaved, 4U);
  // With a full budget again nothing is asked for.
  port_->wants_evidence_now = false;
  put_chain(client, space, keys_of(4, 8));
  EXPECT_EQ(count_cold(client, space, keys_of(3, 8)), 8U);
  EXPECT_EQ(stats().evictions_not_admitted, 4U);
}

TEST_F(Demote, WhatIsNotWorthAPutIsNotWaitedFor) {
  make_disk_store(8);
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  port_->wants_evidence_now = true;
  port_->is_automatic = false;
  put_chain(client, space, keys_of(1, 8));
  EXPECT_EQ(reserve(client, space, keys_of(2, 4)).size(), 4U);
  EXPECT_EQ(stats().reserves_deferred, 0U);
  EXPECT_EQ(port_->puts, 0U);
}

TEST_F(Demote, WhatSomethingOnDiskContinuesIsSavedWhateverTheBudget) {
  make_disk_store(8);
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  const std::vector<Key> keys = keys_of(1, 8);
  put_chain(client, space, keys);
  settle();
  put_chain(client, space, keys_of(2, 4));
  ASSERT_EQ(count_cold(client, space, keys), 4U);
  const BlockId head = store_->state().index->find(NamespaceId{0}, space, keys[3]);
  const BlockId fresh = store_->state().index->find(NamespaceId{0}, space, keys_of(2, 4)[3]);
  ASSERT_EQ(store_->state().blocks[head].hits, 0U);
  port_->wants_evidence_now = true;
  EXPECT_TRUE(demote_admits(store_->state(), head));
  EXPECT_FALSE(demote_admits(store_->state(), fresh));
  port_->wants_evidence_now = false;
  EXPECT_TRUE(demote_admits(store_->state(), fresh));
}

TEST_F(Demote, AHeldSlotIsNotUsedBeforeItIsReleased) {
  make_disk_store(4);
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  port_->ending = [](const DiskCommand&) { return FakeDiskPort::Ending{.is_held = true}; };
  put(client, space, keys_of(1, 4));
  settle();
  EXPECT_EQ(stats().demotions, 4U) << "they are on disk";
  const std::uint32_t request = client.reserve(space, keys_of(2, 1), {});
  settle();
  EXPECT_FALSE(client.is_answered(request)) << "and still read";
  port_->ending = nullptr;
  port_->release();
  settle();
  ASSERT_TRUE(client.is_answered(request));
  EXPECT_EQ(client.completion(request).code, Code::kOk);
}

TEST_F(Demote, LeasedBlocksAreSavedAndStay) {
  make_disk_store(4);
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  put(client, space, keys_of(1, 4));
  settle();
  std::optional<SimLease> lease = client.acquire(space, keys_of(1, 1)[0]);
  ASSERT_TRUE(lease.has_value());
  EXPECT_EQ(reserve(client, space, keys_of(2, 3)).size(), 3U);
  EXPECT_EQ(count_cold(client, space, keys_of(1, 4)), 3U);
  expect_exact(*lease);
  SimClient::release(*lease);
}

TEST_F(Demote, AMailboxThatIsFullLosesNothing) {
  make_disk_store(64);
  SimClient& client = add_client();
  port_->commands_max = 3;
  put_chain(client, usual_space(client), keys_of(1, 64));
  for (int i = 0; i < 100; ++i) advance(kNsPerMs);
  EXPECT_EQ(stats().demotions, 64U);
}

// STYLE 19.
TEST_F(Demote, BackgroundEvictionTakesCleanBlocks) {
  make_disk_store(64, {.low_water_blocks = 8});
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  put_chain(client, space, keys_of(1, 64));
  settle();
  EXPECT_GE(stats().slots_free, 8U);
  EXPECT_EQ(stats().evictions_unsaved, 0U);
  EXPECT_EQ(count_cold(client, space, keys_of(1, 64)), stats().blocks_cold);
}

// A child that is on disk only does not keep its parent in memory.
TEST_F(Demote, APrefixCoolsFromItsTail) {
  make_disk_store(8);
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  put_chain(client, space, keys_of(1, 8));
  settle();
  let_age();
  for (int i = 0; i < 8; ++i) {
    put(client, space, keys_of(2, 1, static_cast<std::uint64_t>(i)));
    EXPECT_EQ(count_cold(client, space, keys_of(1, 8)), static_cast<std::size_t>(i) + 1);
    settle();
  }
  EXPECT_EQ(states_of(client, space, keys_of(1, 8)), std::vector<int>(8, 3));
}

}  // namespace
}  // namespace kvtier::test
