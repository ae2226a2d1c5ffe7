// kvc_sync: what is asked for is asked for to the end, and nobody is told of more than the daemon said.

#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

class ClientSync : public ::testing::Test {
 protected:
  void start(const Misbehaviour& misbehaviour = {}, std::uint64_t deadline_ns = 60'000 * kMs) {
    daemon_ = std::make_unique<FakeDaemon>(misbehaviour);
    client_ = std::make_unique<TestClient>(daemon_->path(), SpecChoice{}, deadline_ns);
    client_->put(keys_from(0, 8));
  }
  int sync(const std::vector<kvc_key>& keys) {
    return kvc_sync(client_->space, keys.empty() ? nullptr : keys.data(), keys.size(), 0, &durable_,
                    &unsaved_);
  }
  void end_with(Completion end) {
    daemon_->with_store([&](FakeStore& store) { store.sync_end = end; });
  }
  static bool says(const std::string& text) {
    return std::string(kvc_last_error()).find(text) != std::string::npos;
  }

  std::unique_ptr<FakeDaemon> daemon_;
  std::unique_ptr<TestClient> client_;
  std::uint64_t durable_ = 0;
  std::uint64_t unsaved_ = 0;
};

TEST_F(ClientSync, KeysOrAllOfTheSpace) {
  start();
  EXPECT_EQ(sync(keys_from(0, 3)), KVC_OK) << kvc_last_error();
  EXPECT_EQ(durable_, 3U);
  EXPECT_EQ(sync({}), KVC_OK) << kvc_last_error();
  EXPECT_EQ(durable_, 8U);
  EXPECT_EQ(unsaved_, 0U);
}

TEST_F(ClientSync, MoreKeysThanARequestHoldsAreAllAskedFor) {
  start();
  EXPECT_EQ(sync(keys_from(0, 9000)), KVC_OK) << kvc_last_error();
  EXPECT_EQ(durable_, 9000U);
  end_with({.code = Code::kNoSpace, .cause = Cause::kWriteBudget, .count = 4000, .value = 96});
  EXPECT_EQ(sync(keys_from(0, 9000)), KVC_NO_SPACE);
  EXPECT_EQ(durable_, 12000U) << "of each of three requests";
  EXPECT_EQ(unsaved_, 3U * 96);
  EXPECT_TRUE(says("nvme.write_budget_bytes_per_day")) << kvc_last_error();
}

TEST_F(ClientSync, WithoutADaemonNothingIsDurable) {
  start();
  daemon_->stop(false);
  wait_until([&] { return !client_->is_connected(); });
  EXPECT_EQ(sync(keys_from(0, 3)), KVC_UNAVAILABLE);
  EXPECT_EQ(durable_, 0U);
}

TEST_F(ClientSync, ADaemonThatHangsUpMeanwhileLeavesAllOpen) {
  start();
  daemon_->change({.hangs_up_on = {Op::kSync}});
  EXPECT_EQ(sync(keys_from(0, 5000)), KVC_UNAVAILABLE);
  EXPECT_EQ(durable_, 0U);
  EXPECT_EQ(unsaved_, 5000U);
}

TEST_F(ClientSync, TheDeadlineIsOurs) {
  start({}, 50 * kMs);
  daemon_->change({.unanswered = {Op::kSync}});
  EXPECT_EQ(sync(keys_from(0, 3)), KVC_DEADLINE);
  EXPECT_EQ(durable_, 0U);
  daemon_->change({});
  daemon_->answer_now();
}

TEST_F(ClientSync, AnOlderDaemonIsNamed) {
  start({.protocol_minor = kSyncMinor - 1});
  EXPECT_EQ(sync({}), KVC_UNSUPPORTED);
  EXPECT_TRUE(says("protocol before 1.3")) << kvc_last_error();
}

TEST_F(ClientSync, KeysWithoutACountAndACountWithoutKeysAreRefused) {
  start();
  const std::vector<kvc_key> keys = keys_from(0, 1);
  EXPECT_EQ(kvc_sync(client_->space, keys.data(), 0, 0, nullptr, nullptr), KVC_INVALID);
  EXPECT_EQ(kvc_sync(client_->space, nullptr, 1, 0, nullptr, nullptr), KVC_INVALID);
}

}  // namespace
}  // namespace kvtier::test
