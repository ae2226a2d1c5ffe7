// kSync: what it says is on disk survives a power cut, and what it cannot promise it counts, with the reason.

#include "daemon/flow/sync.h"

#include "daemon/flow/admin.h"
#include "tests/unit/flow/disk_fixture.h"

namespace kvtier::test {
namespace {

class Sync : public DiskFixture {
 protected:
  void start(std::uint64_t slots, StoreOptions options = {}) {
    make_disk_store(slots, options);
    client_ = &add_client();
    space_ = usual_space(*client_);
  }
  std::uint32_t ask(const std::vector<Key>& keys = {}, TimeNs deadline_ns = 0) {
    const std::uint32_t request = client_->simple(Op::kSync, space_, keys, 0, deadline_ns);
    settle();
    return request;
  }
  Completion sync(const std::vector<Key>& keys = {}) {
    const std::uint32_t request = ask(keys);
    EXPECT_TRUE(client_->is_answered(request));
    return client_->is_answered(request) ? client_->completion(request) : Completion{};
  }
  std::size_t count_found_after_power_cut(const std::vector<Key>& keys) {
    disk_.cut_power();
    restart_cold(64);
    SimClient& client = add_client();
    return count_cold(client, usual_space(client), keys);
  }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

FakeDiskPort::Ending fails(const DiskCommand&) {
  return {.code = Code::kSystem};
}

TEST_F(Sync, WhatIsAcknowledgedSurvivesAPowerCut) {
  start(64);
  put_chain(*client_, space_, keys_of(1, 20));
  const Completion answer = sync();
  EXPECT_EQ(answer.code, Code::kOk);
  EXPECT_EQ(answer.count, 20U);
  EXPECT_EQ(answer.value, 0U);
  EXPECT_EQ(count_found_after_power_cut(keys_of(1, 20)), 20U);
}

// The test above is worth something: without the flush behind the acknowledgement it fails.
TEST_F(Sync, WithoutTheBarrierAPowerCutWouldTakeThem) {
  start(64);
  port_->flushes_nothing = true;
  put_chain(*client_, space_, keys_of(1, 20));
  EXPECT_EQ(sync().code, Code::kOk);
  EXPECT_EQ(count_found_after_power_cut(keys_of(1, 20)), 0U);
}

TEST_F(Sync, AnswersBehindTheFlushWhichIsBehindThePuts) {
  start(64);
  port_->is_automatic = false;
  put_chain(*client_, space_, keys_of(1, 8));
  const std::uint32_t request = ask();
  EXPECT_EQ(port_->open_count(), 8U);
  port_->answer(7);
  settle();
  EXPECT_EQ(port_->flushes, 0U);
  EXPECT_EQ(port_->open_count(), 1U) << "no flush is sent while a put is open";
  port_->answer(1);
  settle();
  EXPECT_FALSE(client_->is_answered(request));
  EXPECT_EQ(port_->open_count(), 1U) << "the flush";
  port_->answer();
  settle();
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).count, 8U);
}

TEST_F(Sync, APrefixGoesAsOneGroup) {
  start(64);
  put_chain(*client_, space_, keys_of(1, 12));
  EXPECT_EQ(sync(keys_of(1, 12)).count, 12U);
  ASSERT_EQ(port_->put_groups.size(), 1U);
  EXPECT_EQ(port_->put_groups[0], keys_of(1, 12));
}

TEST_F(Sync, OnlyTheKeysThatWereNamedAndWhatIsAboveThem) {
  start(64);
  put_chain(*client_, space_, keys_of(1, 8));
  put_chain(*client_, space_, keys_of(2, 8));
  const Completion answer = sync(keys_of(1, 4));
  EXPECT_EQ(answer.code, Code::kOk);
  EXPECT_EQ(answer.count, 4U);
  EXPECT_EQ(port_->puts, 4U);
}

TEST_F(Sync, AKeyThatIsNotThereIsCounted) {
  start(64);
  put_chain(*client_, space_, keys_of(1, 4));
  const Completion answer = sync(keys_of(1, 6));
  EXPECT_EQ(answer.code, Code::kNotFound);
  EXPECT_EQ(answer.count, 4U);
  EXPECT_EQ(answer.value, 2U);
}

TEST_F(Sync, AnotherSpaceAndAnotherNamespaceAreNotWritten) {
  start(64);
  const SpaceId other = client_->register_space(encoded_spec("other", kBlock));
  put(*client_, other, keys_of(3, 2));
  SimClient& stranger = add_client("strange");
  put(stranger, usual_space(stranger), keys_of(4, 2));
  put(*client_, space_, keys_of(1, 2));
  EXPECT_EQ(sync().count, 2U);
  EXPECT_EQ(port_->puts, 2U);
}

TEST_F(Sync, WhatIsOnDiskOnlyCountsAndNothingIsWrittenTwice) {
  start(16);
  put_chain(*client_, space_, keys_of(1, 16));
  settle();
  put_chain(*client_, space_, keys_of(2, 8));
  ASSERT_EQ(count_cold(*client_, space_, keys_of(1, 16)), 8U);
  EXPECT_EQ(sync().count, 24U);
  EXPECT_EQ(port_->puts, 24U);
  EXPECT_EQ(sync().count, 24U);
  EXPECT_EQ(port_->puts, 24U);
}

// To ask is evidence enough: the admission is for what nobody asked for.
TEST_F(Sync, LowBudgetDoesNotRefuseWhatIsAskedFor) {
  start(64);
  port_->wants_evidence_now = true;
  put(*client_, space_, keys_of(1, 4));
  EXPECT_EQ(sync().count, 4U);
}

TEST_F(Sync, AUsedUpBudgetIsTheReasonAndEndsItAtOnce) {
  start(64);
  port_->ending = [](const DiskCommand&) {
    return FakeDiskPort::Ending{.code = Code::kNoSpace, .is_over_budget = true};
  };
  put_chain(*client_, space_, keys_of(1, 4));
  const Completion answer = sync();
  EXPECT_EQ(answer.code, Code::kNoSpace);
  EXPECT_EQ(answer.cause, Cause::kWriteBudget);
  EXPECT_EQ(answer.count, 0U);
  EXPECT_EQ(answer.value, 4U);
}

TEST_F(Sync, AFullTierIsTheReason) {
  start(64);
  std::uint32_t taken = 0;
  port_->ending = [&](const DiskCommand& command) {
    const bool is_full = command.kind == DiskCommandKind::kPut && ++taken > 3;
    return FakeDiskPort::Ending{.code = is_full ? Code::kNoSpace : Code::kOk};
  };
  put_chain(*client_, space_, keys_of(1, 5));
  const std::uint32_t request = ask();
  for (int i = 0; i < 200 && !client_->is_answered(request); ++i) advance(100 * kNsPerMs);
  ASSERT_TRUE(client_->is_answered(request));
  const Completion answer = client_->completion(request);
  EXPECT_EQ(answer.code, Code::kNoSpace);
  EXPECT_EQ(answer.cause, Cause::kDiskFull);
  EXPECT_EQ(answer.count, 3U);
  EXPECT_EQ(answer.value, 2U);
}

TEST_F(Sync, ATierThatTakesNothingIsGivenUpAndSaidSo) {
  start(64);
  port_->takes_puts_now = false;
  put_chain(*client_, space_, keys_of(1, 4));
  const std::uint32_t request = ask();
  advance(kSyncPatienceNs - kNsPerMs);
  EXPECT_FALSE(client_->is_answered(request));
  advance(kNsPerMs);
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).code, Code::kUnavailable);
  EXPECT_EQ(client_->completion(request).value, 4U);
}

TEST_F(Sync, APutThatFailsIsTriedAgainOnce) {
  start(64);
  std::uint32_t failures = 1;
  port_->ending = [&](const DiskCommand& command) {
    const bool is_bad = command.kind == DiskCommandKind::kPut && failures > 0;
    if (is_bad) --failures;
    return FakeDiskPort::Ending{.code = is_bad ? Code::kSystem : Code::kOk};
  };
  put_chain(*client_, space_, keys_of(1, 4));
  const std::uint32_t request = ask();
  advance(20 * kNsPerMs);
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).code, Code::kOk);
  EXPECT_EQ(client_->completion(request).count, 4U);
}

TEST_F(Sync, BlocksThatCannotBeWrittenAreCounted) {
  start(64);
  port_->ending = fails;
  put_chain(*client_, space_, keys_of(1, 2));
  const std::uint32_t request = ask();
  for (int i = 0; i < 100 && !client_->is_answered(request); ++i) advance(100 * kNsPerMs);
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_NE(client_->completion(request).code, Code::kOk);
  EXPECT_EQ(client_->completion(request).count, 0U);
  EXPECT_EQ(client_->completion(request).value, 2U);
}

TEST_F(Sync, AFlushThatFailsPromisesNothing) {
  start(64);
  put_chain(*client_, space_, keys_of(1, 4));
  port_->flush_code = Code::kSystem;
  const Completion answer = sync();
  EXPECT_EQ(answer.code, Code::kSystem);
  EXPECT_EQ(answer.count, 0U);
  EXPECT_EQ(answer.value, 4U);
}

// A later flush that goes well says nothing about what was put before one that failed, whoever asked for that one.
TEST_F(Sync, WhatWasPutBeforeAFlushThatFailedIsNotPromisedLater) {
  start(64);
  put_chain(*client_, space_, keys_of(1, 4));
  EXPECT_EQ(sync().code, Code::kOk);
  port_->fail_flush();
  settle();
  put_chain(*client_, space_, keys_of(2, 3));
  const Completion answer = sync();
  EXPECT_EQ(answer.code, Code::kSystem);
  EXPECT_EQ(answer.count, 3U);
  EXPECT_EQ(answer.value, 4U);
}

TEST_F(Sync, AFlushThatFailsMeanwhileIsNoPromiseEither) {
  start(64);
  port_->is_automatic = false;
  put_chain(*client_, space_, keys_of(1, 4));
  const std::uint32_t request = ask();
  port_->answer(4);
  settle();
  port_->fail_flush();
  port_->answer();
  settle();
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).code, Code::kSystem);
  EXPECT_EQ(client_->completion(request).value, 4U);
}

TEST_F(Sync, TheDeadlineEndsItAndThePutsGoOn) {
  start(64);
  port_->is_automatic = false;
  put_chain(*client_, space_, keys_of(1, 4));
  const std::uint32_t request = ask({}, clock_.now_ns() + kNsPerMs);
  EXPECT_FALSE(client_->is_answered(request));
  EXPECT_LE(store_->next_deadline(), clock_.now_ns() + kNsPerMs);
  advance(kNsPerMs);
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).code, Code::kDeadline);
  EXPECT_EQ(client_->completion(request).count, 0U);
  port_->answer();
  settle();
  EXPECT_EQ(stats().demotions, 4U);
}

TEST_F(Sync, ABlockThatLeavesUnsavedMeanwhileIsCounted) {
  start(8, {.disk_wait_ns = kNsPerMs});
  port_->takes_puts_now = false;
  put_chain(*client_, space_, keys_of(1, 8));
  const std::uint32_t request = ask();
  EXPECT_EQ(reserve(*client_, space_, keys_of(2, 2)).size(), 2U);
  ASSERT_EQ(stats().evictions_unsaved, 2U);
  port_->takes_puts_now = true;
  advance(20 * kNsPerMs);
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).code, Code::kNotFound);
  EXPECT_EQ(client_->completion(request).count, 6U);
  EXPECT_EQ(client_->completion(request).value, 2U);
}

TEST_F(Sync, ManyBlocksInBoundedStepsWhileOthersAreServed) {
  constexpr std::uint32_t kBlocks = kPutsOpenMax + 200;
  start(kBlocks);
  put_chain(*client_, space_, keys_of(1, kBlocks));
  const Completion answer = sync();
  EXPECT_EQ(answer.code, Code::kOk);
  EXPECT_EQ(answer.count, kBlocks);
}

TEST_F(Sync, OnlyFourOfASession) {
  start(64);
  port_->is_automatic = false;
  put(*client_, space_, keys_of(1, 1));
  for (std::size_t i = 0; i < kSyncsMaxSession; ++i) EXPECT_FALSE(client_->is_answered(ask()));
  EXPECT_EQ(sync().code, Code::kBusy);
}

TEST_F(Sync, AClientThatHangsUpIsNotAnswered) {
  start(64);
  port_->is_automatic = false;
  put(*client_, space_, keys_of(1, 3));
  (void)ask(keys_of(1, 3));
  store_->session_hang_up(client_->session());
  port_->answer();
  settle();
  EXPECT_EQ(stats().demotions, 3U);
  EXPECT_EQ(store_->state().syncs.size(), 0U);
}

using SyncWithoutTier = StoreFixture;

TEST_F(SyncWithoutTier, ItSaysSo) {
  make_store(16);
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  put(client, space, keys_of(1, 2));
  EXPECT_EQ(call(client, Op::kSync, space, {}).code, Code::kUnsupported);
  EXPECT_EQ(call(client, Op::kSync, space, keys_of(1, 2)).value, 2U);
}

TEST_F(SyncWithoutTier, OneThatDidNotOpenIsUnavailable) {
  StoreOptions options;
  options.is_disk_absent = true;
  make_store(16, options);
  SimClient& client = add_client();
  EXPECT_EQ(call(client, Op::kSync, usual_space(client), {}).code, Code::kUnavailable);
}

TEST_F(Sync, ATierThatRefusesEndsWhatWaitsForIt) {
  opens_ = false;
  port_->is_refused = true;
  start(16);
  put(*client_, space_, keys_of(1, 2));
  EXPECT_EQ(sync().code, Code::kUnavailable);
}

TEST_F(Sync, AnAdministratorsIsLookedAtUntilItIsOver) {
  start(64);
  SimClient& stranger = add_client("strange");
  put(stranger, usual_space(stranger), keys_of(4, 2));
  put_chain(*client_, space_, keys_of(1, 4));
  port_->is_automatic = false;
  const std::uint64_t number = sync_begin(store_->state(), {});
  settle();
  std::optional<SyncView> view = sync_look(store_->state(), number);
  ASSERT_TRUE(view.has_value());
  EXPECT_FALSE(view->is_over);
  port_->answer();
  settle();
  port_->answer();
  settle();
  view = sync_look(store_->state(), number);
  ASSERT_TRUE(view.has_value());
  EXPECT_TRUE(view->is_over);
  EXPECT_EQ(view->report.durable, 6U);
  EXPECT_FALSE(sync_look(store_->state(), number).has_value());
}

}  // namespace
}  // namespace kvtier::test
