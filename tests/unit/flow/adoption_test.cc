// What a daemon took over and has not verified yet is on no list and in no index: whatever comes for it in
// between must leave it alone or end it cleanly. Found by killing daemons under load.

#include "daemon/flow/admin.h"
#include "daemon/flow/state.h"
#include "libkvclient/base/checksum.h"
#include "tests/support/store_restart.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

class Adoption : public StoreFixture {
 protected:
  explicit Adoption(std::uint64_t slots = 16) : slots_(slots) {}
  void SetUp() override {
    make_store(slots_);
    client_ = &add_client();
    space_ = usual_space(*client_);
    keep_pidfd(*store_, *client_);
  }

  void sum_all() {
    clock_.advance(2 * kNsPerSecond);
    while (std::optional<ChecksumJob> job = store_->checksum_next()) store_->checksum_done(*job, 42);
  }
  void sum_all_for_real() {
    clock_.advance(2 * kNsPerSecond);
    while (std::optional<ChecksumJob> job = store_->checksum_next())
      store_->checksum_done(*job, checksum64(job->bytes));
  }
  void damage(const Key& key) {
    std::optional<SimLease> lease = client_->acquire(space_, key);
    ASSERT_TRUE(lease.has_value());
    const_cast<std::byte&>(lease->bytes[lease->bytes.size() / 2]) ^= std::byte{1};
    SimClient::release(*lease);
  }
  void restart() {
    store_.reset();
    ASSERT_NO_FATAL_FAILURE(make_store(slots_));
    ASSERT_EQ(store_->cold_reason(), "");
    ASSERT_NO_FATAL_FAILURE(resume_session(*store_, *client_));
    (void)usual_space(*client_);
    settle();
  }
  // Asks for offers and has one taken.
  std::optional<Reservation> take_of(std::uint32_t count) {
    client_->refill(space_, count);
    std::optional<Reservation> taken = client_->take(space_, pattern_key(70, 0), {});
    EXPECT_TRUE(taken.has_value());
    return taken;
  }
  // Every slot can be had again.
  void expect_no_leak() {
    advance(kNsPerSecond);
    EXPECT_EQ(stats().blocks_draining, 0U);
    EXPECT_EQ(store_->unverified_count(), 0U);
    const std::vector<Reservation> all = reserve(*client_, space_, keys_of(99, 16), true);
    EXPECT_EQ(holds_of(all).size(), 16U);
    client_->abort(holds_of(all));
  }

  const std::uint64_t slots_;
  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

TEST_F(Adoption, a_block_that_the_dead_daemon_was_summing_comes_back) {
  put(*client_, space_, keys_of(1, 2));
  clock_.advance(2 * kNsPerSecond);
  ASSERT_TRUE(store_->checksum_next().has_value());
  restart();
  EXPECT_EQ(stats().adoption_dropped, 2U);
  expect_no_leak();
}

TEST_F(Adoption, an_invalidation_ends_unverified_blocks) {
  put(*client_, space_, keys_of(1, 3));
  sum_all();
  restart();
  EXPECT_EQ(store_->unverified_count(), 3U);
  const std::optional<ChecksumJob> under_way = store_->checksum_next();
  ASSERT_TRUE(under_way.has_value());
  EXPECT_EQ(call(*client_, Op::kInvalidate, space_, {}).count, 3U);
  store_->checksum_done(*under_way, 42);
  EXPECT_EQ(count_ready(*client_, space_, keys_of(1, 3)), 0U);
  EXPECT_EQ(stats().blocks_ready, 0U);
  expect_no_leak();
}

TEST_F(Adoption, F_03_an_administrator_evicts_unverified_blocks) {
  put(*client_, space_, keys_of(1, 3));
  sum_all();
  restart();
  const std::optional<ChecksumJob> under_way = store_->checksum_next();
  ASSERT_TRUE(under_way.has_value());
  const EvictReport report = store_->admin().evict({}, {}, 1000 * kEvictionWork);
  EXPECT_FALSE(report.next.has_value());
  EXPECT_EQ(report.evicted + report.kept.other, 3U) << "the one that is being summed may stay";
  store_->checksum_done(*under_way, 42);
  EXPECT_EQ(count_ready(*client_, space_, keys_of(1, 3)), report.kept.total());
  (void)call(*client_, Op::kInvalidate, space_, {});
  expect_no_leak();
}

TEST_F(Adoption, accesses_to_unverified_blocks_change_no_order) {
  put(*client_, space_, keys_of(1, 3));
  put(*client_, space_, keys_of(2, 1));
  sum_all();
  std::optional<SimLease> lease = client_->acquire(space_, pattern_key(1, 2));
  ASSERT_TRUE(lease.has_value());
  client_->log_access(space_, lease->key, 3);
  restart();  // the record is still in the log, and its blocks are not verified
  client_->resolve_again(*lease);
  advance(kNsPerMs);
  expect_exact(*lease);
  SimClient::release(*lease);
  // The last of the chain becomes visible before its parents, and is used.
  while (std::optional<ChecksumJob> job = store_->checksum_next()) {
    store_->checksum_done(*job, 42);
    client_->log_access(space_, pattern_key(1, 2), 3);
    client_->log_access(space_, pattern_key(2, 0), 1);
    settle();
  }
  EXPECT_EQ(stats().blocks_ready, 4U);
  check_store(*store_);
  let_age();
  for (std::uint64_t chain = 10; chain < 40; ++chain) put(*client_, space_, keys_of(chain, 1));
  EXPECT_EQ(count_ready(*client_, space_, keys_of(1, 3)), 0U);
  check_store(*store_);
}

TEST_F(Adoption, a_key_stored_anew_before_the_old_block_was_verified_wins) {
  put(*client_, space_, keys_of(1, 1));
  sum_all();
  restart();
  put(*client_, space_, keys_of(1, 1));
  while (std::optional<ChecksumJob> job = store_->checksum_next()) store_->checksum_done(*job, 42);
  EXPECT_EQ(client_->match(space_, pattern_key(1, 0)), 1);
  EXPECT_EQ(stats().blocks_ready, 1U);
  call(*client_, Op::kInvalidate, space_, {});
  expect_no_leak();
}

class LargeAdoption : public Adoption {
 protected:
  LargeAdoption() : Adoption(104) {}
};

// Bytes that changed while no daemon looked, 10 blocks of 100: those are misses and the others exact.
TEST_F(LargeAdoption, C_06_R_06_damaged_blocks_are_misses_and_their_prefixes_end_before_them) {
  const std::vector<Key> keys = keys_of(1, 100);
  put_chain(*client_, space_, keys);
  sum_all_for_real();
  for (std::size_t i = 5; i < keys.size(); i += 10) damage(keys[i]);
  restart();
  sum_all_for_real();
  EXPECT_EQ(stats().checksum_failures, 10U);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::optional<SimLease> lease = client_->acquire(space_, keys[i]);
    ASSERT_EQ(lease.has_value(), i % 10 != 5) << i;
    if (!lease) continue;
    expect_exact(*lease);
    SimClient::release(*lease);
  }
  settle();
  EXPECT_EQ(stats().blocks_ready, 90U);
}

TEST_F(Adoption, C_08_a_key_that_was_found_damaged_can_be_stored_again) {
  put(*client_, space_, keys_of(1, 3));
  sum_all_for_real();
  damage(pattern_key(1, 1));
  restart();
  sum_all_for_real();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(client_->match(space_, pattern_key(1, 1)), 0);
  settle();
  commit(*client_, reserve(*client_, space_, {pattern_key(1, 1)}, false, pattern_key(1, 0)));
  EXPECT_EQ(count_ready(*client_, space_, keys_of(1, 3)), 3U);
  std::optional<SimLease> lease = client_->acquire(space_, pattern_key(1, 1));
  ASSERT_TRUE(lease.has_value());
  expect_exact(*lease);
  SimClient::release(*lease);
}

TEST_F(Adoption, a_commit_that_was_cut_in_two_is_dropped_without_a_leak) {
  const std::vector<Reservation> open = reserve(*client_, space_, keys_of(1, 1));
  client_->fill(open[0]);
  Slab& slab = store_->state().slab_of(open[0].result.slot);
  ASSERT_TRUE(slab.table().publish(open[0].result.slot.slot(), open[0].result.generation));
  restart();
  EXPECT_EQ(client_->match(space_, pattern_key(1, 0)), 0);
  expect_no_leak();
}

TEST_F(Adoption, of_a_stock_what_was_on_offer_is_free_and_what_was_taken_comes_back_with_the_answer) {
  client_->abort(holds_of(reserve(*client_, space_, keys_of(60, 16), true)));
  const std::optional<Reservation> taken = take_of(2);
  const std::uint64_t dropped = stats().adoption_dropped;
  answers_revocations_ = false;
  restart();
  EXPECT_EQ(stats().slots_quarantined, 1U) << "its threads may be writing still";
  EXPECT_EQ(stats().slots_free, 15U);
  EXPECT_EQ(stats().adoption_dropped, dropped) << "nothing is lost with an unused slot";
  EXPECT_FALSE(client_->take(space_, pattern_key(70, 1), {}).has_value());
  client_->commit({taken->result.hold});
  EXPECT_EQ(client_->match(space_, pattern_key(70, 0)), 0);
  answers_revocations_ = true;
  settle();
  client_->refill(space_, 1);
  EXPECT_TRUE(client_->take(space_, pattern_key(70, 0), {}).has_value());
  end_process(*client_);
  client_ = &add_client();
  (void)usual_space(*client_);
  expect_no_leak();
}

// The daemon died between the record and the offer, or between taking back and giving up.
TEST_F(Adoption, a_stocked_record_whose_entry_is_empty_is_free) {
  client_->refill(space_, 1);
  client_->stock().clear(0);
  restart();
  EXPECT_EQ(stats().slots_quarantined, 0U);
  expect_no_leak();
}

}  // namespace
}  // namespace kvtier::test
