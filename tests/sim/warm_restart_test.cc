// Warm restart (DESIGN 3, report R-11): the store is dropped where it stands and a new one adopts its memory.
// A lease taken before stays readable and exact; blocks come back after their checksum matched; what was
// being written never appears; damaged bytes never appear; a handle of before never resolves to a new block.

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "daemon/flow/state.h"
#include "libkvclient/base/checksum.h"
#include "libkvclient/base/units.h"
#include "tests/support/memory_fd_store.h"
#include "tests/support/pattern_block.h"
#include "tests/support/sim_client.h"
#include "tests/support/store_checks.h"

namespace kvtier::test {
namespace {

constexpr std::uint64_t kBlockBytes = 4096;

class WarmRestart : public ::testing::Test {
 protected:
  void SetUp() override {
    start();
    client_ = std::make_unique<SimClient>(*store_, "main", 100);
    keep_pidfd(*client_);
    space_ = client_->register_space(encoded_spec("m", kBlockBytes));
  }

  void start() {
    store_.reset();
    StoreOptions options;
    options.host_bytes = 64 * 64 * kKiB;
    options.slab_bytes = 64 * kKiB;
    options.low_water_blocks = 0;
    Result<std::unique_ptr<Store>> store = Store::create(options, clock_, fds_);
    ASSERT_TRUE(store.is_ok()) << store.status().to_string();
    store_ = std::move(store).value();
  }

  void keep_pidfd(const SimClient& client) {
    const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
    ASSERT_TRUE(pidfd.is_open());
    store_->session_keep_pidfd(client.session(), pidfd.get());
  }

  void deliver() {
    std::vector<OutEvent> events;
    events.swap(store_->outbox());
    for (const OutEvent& event : events) client_->on_event(event);
  }

  std::vector<Key> put_chain(std::uint64_t chain, std::size_t count, bool is_committed = true) {
    std::vector<Key> keys(count);
    for (std::size_t i = 0; i < count; ++i) keys[i] = pattern_key(chain, i);
    const std::uint32_t request = client_->reserve(space_, keys, Key{});
    deliver();
    std::vector<Hold> holds;
    for (const Reservation& each : client_->reserved(request)) {
      EXPECT_EQ(each.result.code, Code::kOk);
      client_->fill(each);
      holds.push_back(each.result.hold);
    }
    if (is_committed) client_->commit(holds);
    open_ = holds;
    return keys;
  }

  void sum_all() {
    clock_.advance(2 * kNsPerSecond);
    while (std::optional<ChecksumJob> job = store_->checksum_next())
      store_->checksum_done(*job, checksum64(job->bytes));
  }

  void restart_and_resume() {
    const SessionGrant before = client_->grant();
    start();
    ASSERT_EQ(store_->cold_reason(), "");
    const std::uint64_t secret[2] = {before.secret[0], before.secret[1]};
    const Result<SessionGrant> resumed =
        store_->session_resume(before.session_id, secret, {.namespace_name = "main"});
    ASSERT_TRUE(resumed.is_ok()) << resumed.status().to_string();
    client_->resume(*store_, resumed.value());
    deliver();
  }

  ManualClock clock_;
  MemoryFdStore fds_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<SimClient> client_;
  SpaceId space_ = SpaceId::kNone;
  std::vector<Hold> open_;
};

TEST_F(WarmRestart, BlocksComeBackAfterTheirChecksumAndLeasesStayExact) {
  const std::vector<Key> keys = put_chain(1, 20);
  sum_all();
  std::optional<SimLease> lease = client_->acquire(space_, keys[3]);
  ASSERT_TRUE(lease);
  restart_and_resume();
  client_->resolve_again(*lease);
  EXPECT_EQ(store_->unverified_count(), 20U);
  EXPECT_FALSE(client_->acquire(space_, keys[0])) << "not before its checksum";
  EXPECT_EQ(check_pattern(lease->key, lease->bytes), kBlockBytes);
  sum_all();
  EXPECT_EQ(store_->stats().blocks_adopted, 20U);
  for (const Key& key : keys) {
    std::optional<SimLease> again = client_->acquire(space_, key);
    ASSERT_TRUE(again);
    EXPECT_EQ(check_pattern(key, again->bytes), kBlockBytes);
    SimClient::release(*again);
  }
  SimClient::release(*lease);
  check_store(*store_);
}

TEST_F(WarmRestart, DamagedBytesNeverAppear) {
  const std::vector<Key> keys = put_chain(1, 8);
  sum_all();
  std::optional<SimLease> lease = client_->acquire(space_, keys[5]);
  ASSERT_TRUE(lease);
  const_cast<std::byte&>(lease->bytes[17]) ^= std::byte{1};
  SimClient::release(*lease);
  restart_and_resume();
  sum_all();
  EXPECT_EQ(store_->stats().checksum_failures, 1U);
  EXPECT_EQ(client_->match(space_, keys[5]), 0);
  EXPECT_EQ(client_->match(space_, keys[4]), 1);
  clock_.advance(kNsPerSecond);
  (void)store_->do_work();
  check_store(*store_);
}

TEST_F(WarmRestart, UnsummedBlocksAreMisses) {
  const std::vector<Key> keys = put_chain(1, 8);
  restart_and_resume();
  sum_all();
  for (const Key& key : keys) EXPECT_EQ(client_->match(space_, key), 0);
  (void)store_->do_work();
  EXPECT_EQ(store_->stats().blocks_draining, 0U);
  check_store(*store_);
}

TEST_F(WarmRestart, AReservationOfBeforeNeverAppearsAndComesBack) {
  put_chain(2, 4, false);
  restart_and_resume();
  EXPECT_EQ(store_->stats().slots_quarantined, 4U);
  client_->commit(open_);
  deliver();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(client_->match(space_, pattern_key(2, i)), 0);
  EXPECT_EQ(store_->stats().slots_quarantined, 0U) << "a refused commit gives the slot back";
  check_store(*store_);
}

TEST_F(WarmRestart, AReservationThatTheClientNeverHeardOfComesBackWithTheSlab) {
  put_chain(2, 4, false);
  restart_and_resume();
  ASSERT_EQ(client_->revocations(), 1U) << "the slab is asked back";
  client_->acknowledge();
  EXPECT_EQ(store_->stats().slots_quarantined, 0U);
  check_store(*store_);
}

TEST_F(WarmRestart, AnExitedClientsBlocksStay) {
  const std::vector<Key> keys = put_chain(1, 4);
  sum_all();
  store_->session_exited(client_->session());
  start();
  ASSERT_EQ(store_->cold_reason(), "");
  client_ = std::make_unique<SimClient>(*store_, "main", 101);
  space_ = client_->register_space(encoded_spec("m", kBlockBytes));
  sum_all();
  for (const Key& key : keys) EXPECT_EQ(client_->match(space_, key), 1);
  check_store(*store_);
}

TEST_F(WarmRestart, AMissingChannelMeansAColdStartThatSaysSo) {
  put_chain(1, 4);
  sum_all();
  fds_.remove("session1.pidfd");
  start();
  EXPECT_NE(store_->cold_reason().find("pid 100"), std::string::npos) << store_->cold_reason();
  check_store(*store_);
}

TEST_F(WarmRestart, AChangedSizeMeansAColdStart) {
  store_.reset();
  StoreOptions options;
  options.host_bytes = 32 * 64 * kKiB;
  options.slab_bytes = 64 * kKiB;
  Result<std::unique_ptr<Store>> store = Store::create(options, clock_, fds_);
  ASSERT_TRUE(store.is_ok());
  EXPECT_NE(store.value()->cold_reason(), "");
}

}  // namespace
}  // namespace kvtier::test
