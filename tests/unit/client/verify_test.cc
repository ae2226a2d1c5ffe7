// KVC_VERIFY: what does not match its checksum is a miss, and every way in which the daemon may not answer is one.

#include "libkvclient/base/digest.h"
#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

constexpr SpaceId kSpace{1};
constexpr std::size_t kBlocks = 6;

class ClientVerify : public ::testing::Test {
 protected:
  void start(const Misbehaviour& misbehaviour = {}, std::uint64_t deadline_ns = 60'000 * kMs) {
    daemon_ = std::make_unique<FakeDaemon>(misbehaviour);
    client_ = std::make_unique<TestClient>(daemon_->path(), SpecChoice{}, deadline_ns);
    client_->put(keys_);
  }
  /// One bit of a block that is ready, as its writer could.
  void damage(std::size_t i) {
    daemon_->with_store(
        [&](FakeStore& store) { store.bytes_of(kSpace, wire_key_of(i))[2049] ^= std::byte{4}; });
  }
  std::size_t doubted_count() {
    return daemon_->with_store([](FakeStore& store) { return store.doubted.size(); });
  }
  int acquire_code(std::uint32_t flags = 0) const {
    return kvc_acquire(client_->space, keys_.data(), keys_.size(), KVC_VERIFY | flags, 0, client_->lease);
  }
  std::size_t acquire(std::uint32_t flags = 0) const { return client_->acquire(keys_, KVC_VERIFY | flags); }
  [[nodiscard]] std::size_t count() const { return kvc_lease_count(client_->lease); }
  void expect_nothing_leased() {
    EXPECT_EQ(kvc_lease_held(client_->lease), 0U);
    EXPECT_EQ(client_->stats().leases_open, 0U);
    EXPECT_EQ(daemon_->pinned_count(), 0U);
  }
  static bool says(const std::string& text) {
    return std::string(kvc_last_error()).find(text) != std::string::npos;
  }

  std::unique_ptr<FakeDaemon> daemon_;
  std::unique_ptr<TestClient> client_;
  const std::vector<kvc_key> keys_ = keys_from(0, kBlocks);
};

TEST_F(ClientVerify, BlocksThatAreRightAreLeasedWithOneRequest) {
  start();
  const std::uint64_t before = client_->stats().requests;
  EXPECT_EQ(client_->acquire(keys_), kBlocks);
  EXPECT_EQ(client_->stats().requests, before) << "who does not verify asks nobody";
  kvc_release(client_->lease);
  EXPECT_EQ(acquire(), kBlocks);
  EXPECT_EQ(client_->stats().requests, before + 1);
  EXPECT_EQ(client_->first_byte(kBlocks - 1), 0x5a);
  const kvc_client_stats stats = client_->stats();
  EXPECT_EQ(stats.acquire_keys, 2 * kBlocks);
  EXPECT_EQ(stats.acquire_leased, 2 * kBlocks);
  EXPECT_EQ(stats.acquire_unverified + stats.acquire_corrupt, 0U);
  EXPECT_EQ(stats.leases_open, 1U);
  kvc_release(client_->lease);
  expect_nothing_leased();
  EXPECT_EQ(doubted_count(), 0U);
}

TEST_F(ClientVerify, ThePrefixEndsBeforeABlockThatIsWrongAndTheDaemonIsTold) {
  start();
  damage(2);
  damage(4);
  EXPECT_EQ(client_->acquire(keys_), kBlocks) << "who does not verify does not notice";
  kvc_release(client_->lease);
  EXPECT_EQ(acquire(), 2U);
  EXPECT_EQ(count(), 2U);
  EXPECT_EQ(daemon_->pinned_count(), 2U);
  EXPECT_TRUE(says("keys[2], " + to_hex(wire_key_of(2)) + ": its bytes do not match")) << kvc_last_error();
  const kvc_client_stats stats = client_->stats();
  EXPECT_EQ(stats.acquire_leased, kBlocks + 2);
  EXPECT_EQ(stats.acquire_corrupt, 1U) << "what is behind it is of no use, and not looked at";
  EXPECT_EQ(stats.acquire_unverified, 3U);
  daemon_->with_store([&](FakeStore& store) {
    ASSERT_EQ(store.doubted.size(), 1U);
    EXPECT_EQ(store.doubted[0].slot, store.slot_of(kSpace, wire_key_of(2)));
  });
}

TEST_F(ClientVerify, WithoutABlockNothingIsLeasedAndTheLeaseServesAgain) {
  start();
  damage(0);
  EXPECT_EQ(acquire(), 0U);
  EXPECT_EQ(count(), 0U);
  expect_nothing_leased();
  damage(0);
  EXPECT_EQ(acquire(), kBlocks) << "it is as it was";
}

TEST_F(ClientVerify, UnorderedHoldsAllThatAreRight) {
  start();
  damage(0);
  damage(3);
  EXPECT_EQ(acquire(KVC_UNORDERED), kBlocks - 2);
  EXPECT_EQ(count(), kBlocks);
  for (std::size_t i = 0; i < kBlocks; ++i)
    EXPECT_EQ(kvc_lease_blocks(client_->lease)[i] == nullptr, i == 0 || i == 3) << i;
  EXPECT_EQ(daemon_->pinned_count(), kBlocks - 2);
  EXPECT_EQ(client_->stats().acquire_corrupt, 2U);
  EXPECT_EQ(doubted_count(), 2U);
  EXPECT_TRUE(says("keys[0]"));
}

TEST_F(ClientVerify, AllOrNothingIsNothing) {
  start();
  damage(5);
  EXPECT_EQ(acquire(KVC_ALL_OR_NOTHING), 0U);
  EXPECT_EQ(count(), 0U);
  expect_nothing_leased();
  EXPECT_EQ(acquire(KVC_ALL_OR_NOTHING | KVC_UNORDERED), 0U);
  EXPECT_EQ(count(), kBlocks) << "entries that are not held";
  expect_nothing_leased();
  EXPECT_EQ(client_->stats().acquire_leased, 0U);
}

TEST_F(ClientVerify, AClientThatIsOpenedWithItVerifiesEveryAcquire) {
  start();
  damage(1);
  kvc_client* wary = nullptr;
  ASSERT_EQ(open_client(daemon_->path(), &wary, KVC_VERIFY), KVC_OK) << kvc_last_error();
  kvc_spec* spec = make_spec();
  kvc_space* space = nullptr;
  ASSERT_EQ(kvc_space_register(wary, spec, 0, &space), KVC_OK);
  kvc_spec_destroy(spec);
  kvc_lease* lease = nullptr;
  ASSERT_EQ(kvc_lease_create(wary, kBlocks, &lease), KVC_OK);
  wait_until([&] {  // its slabs are mapped
    std::size_t ready = 0;
    return kvc_wait(space, keys_.data(), kBlocks, 0, nullptr, &ready) == KVC_OK && ready == kBlocks;
  });
  EXPECT_EQ(kvc_acquire(space, keys_.data(), kBlocks, 0, 0, lease), KVC_OK);
  EXPECT_EQ(kvc_lease_held(lease), 1U);
  kvc_lease_destroy(lease);
  kvc_space_close(space);
  kvc_client_close(wary);
}

TEST_F(ClientVerify, ASumThatDoesNotComeInTimeIsAMiss) {
  start();
  daemon_->with_store([](FakeStore& store) { store.has_no_sums = true; });
  EXPECT_EQ(acquire(), 0U);
  expect_nothing_leased();
  EXPECT_TRUE(says("keys[0]") && says("before the deadline")) << kvc_last_error();
  EXPECT_EQ(client_->stats().acquire_unverified, kBlocks);
  EXPECT_EQ(client_->stats().acquire_corrupt, 0U);
  EXPECT_EQ(doubted_count(), 0U);
}

TEST_F(ClientVerify, ADaemonThatDoesNotAnswerIsADeadline) {
  start({}, 50 * kMs);
  daemon_->change({.unanswered = {Op::kSums}});
  EXPECT_EQ(acquire_code(), KVC_DEADLINE);
  EXPECT_EQ(count(), 0U);
  expect_nothing_leased();
  EXPECT_EQ(client_->stats().deadline_exceeded, 1U);
  daemon_->change({});
  daemon_->answer_now();
}

TEST_F(ClientVerify, ADaemonThatHangsUpIsUnavailable) {
  start();
  daemon_->change({.hangs_up_on = {Op::kSums}});
  EXPECT_EQ(acquire_code(), KVC_UNAVAILABLE);
  EXPECT_EQ(count(), 0U);
  EXPECT_EQ(kvc_lease_held(client_->lease), 0U);
  EXPECT_EQ(client_->stats().leases_open, 0U);
  daemon_->change({});
  wait_until([&] { return client_->is_usable(); });
  EXPECT_EQ(acquire_code(), KVC_OK);
}

TEST_F(ClientVerify, ADaemonThatIsAwayIsUnavailable) {
  start();
  daemon_->stop(false);
  wait_until([&] { return !client_->is_connected(); });
  EXPECT_EQ(acquire_code(), KVC_UNAVAILABLE);
  EXPECT_EQ(count(), 0U);
}

TEST_F(ClientVerify, AnOlderDaemonIsNamed) {
  start({.protocol_minor = kSumsMinor - 1});
  EXPECT_EQ(acquire_code(), KVC_UNSUPPORTED);
  EXPECT_TRUE(says("protocol before 1.2")) << kvc_last_error();
  expect_nothing_leased();
  EXPECT_EQ(client_->acquire(keys_), kBlocks) << "without the flag all is as before";
}

TEST_F(ClientVerify, AMissAsksNobody) {
  start();
  const std::uint64_t before = client_->stats().requests;
  EXPECT_EQ(client_->acquire(keys_from(100, 3), KVC_VERIFY), 0U);
  EXPECT_EQ(client_->stats().requests, before);
}

TEST_F(ClientVerify, MoreKeysThanARequestHolds) {
  start();
  std::vector<kvc_key> many;
  for (std::size_t i = 0; i < 5000; ++i) many.push_back(keys_[i % 3]);
  many[4500] = keys_[5];
  damage(5);
  EXPECT_EQ(client_->acquire(many, KVC_VERIFY), 4500U);
  EXPECT_EQ(daemon_->pinned_count(), 3U) << "places";
  kvc_release(client_->lease);
  expect_nothing_leased();
}

TEST_F(ClientVerify, AnInterruptedCallLeasesNothing) {
  start();
  daemon_->change({.unanswered = {Op::kSums}});
  kvc_set_interrupt([](void*) { return 1; }, nullptr);
  EXPECT_EQ(acquire_code(), KVC_DEADLINE);
  kvc_set_interrupt(nullptr, nullptr);
  expect_nothing_leased();
  daemon_->change({});
  daemon_->answer_now();
}

}  // namespace
}  // namespace kvtier::test
