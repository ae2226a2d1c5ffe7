// Warm restart (DESIGN 3, report R-11): the store is dropped where it stands and a new one adopts its memory.
// A lease taken before stays readable and exact; blocks come back after their checksum matched; what was
// being written never appears; damaged bytes never appear; a handle of before never resolves to a new block.

#include "libkvclient/base/units.h"
#include "tests/support/restart_fixture.h"

namespace kvtier::test {
namespace {

constexpr std::uint64_t kBlockBytes = 4096;

StoreOptions small_slabs() {
  StoreOptions options;
  options.host_bytes = 64 * 64 * kKiB;
  options.slab_bytes = 64 * kKiB;
  options.low_water_blocks = 0;
  return options;
}

class WarmRestart : public RestartFixture {
 protected:
  WarmRestart() : RestartFixture(small_slabs()) {}
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(RestartFixture::SetUp());
    space_ = client_->register_space(encoded_spec("m", kBlockBytes));
  }
  // Reserved and filled.
  std::vector<Hold> write_chain(std::uint64_t chain, std::size_t count) {
    const std::vector<Reservation> reservations = reserve(space_, keys_of(chain, count));
    for (const Reservation& each : reservations) {
      EXPECT_EQ(each.result.code, Code::kOk);
      client_->fill(each);
    }
    return holds_of(reservations);
  }
  std::vector<Key> put_chain(std::uint64_t chain, std::size_t count) {
    client_->commit(write_chain(chain, count));
    return keys_of(chain, count);
  }
  void restart_and_resume() {
    ASSERT_NO_FATAL_FAILURE(restart_warm());
    resume();
  }

  SpaceId space_ = SpaceId::kNone;
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
  const std::vector<Hold> open = write_chain(2, 4);
  restart_and_resume();
  EXPECT_EQ(store_->stats().slots_quarantined, 4U);
  client_->commit(open);
  deliver();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(client_->match(space_, pattern_key(2, i)), 0);
  EXPECT_EQ(store_->stats().slots_quarantined, 0U) << "a refused commit gives the slot back";
  check_store(*store_);
}

TEST_F(WarmRestart, AReservationThatTheClientNeverHeardOfComesBackWithTheSlab) {
  (void)write_chain(2, 4);
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
  restart_warm();
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
  restart();
  EXPECT_NE(store_->cold_reason().find("pid " + std::to_string(kClientPid)), std::string::npos)
      << store_->cold_reason();
  check_store(*store_);
}

TEST_F(WarmRestart, AChangedSizeMeansAColdStart) {
  options_.host_bytes /= 2;
  restart();
  EXPECT_NE(store_->cold_reason(), "");
}

}  // namespace
}  // namespace kvtier::test
