// What bounds an eviction, and what decides between blocks of several writers and slot sizes. Work is counted, not
// timed.

#include "daemon/flow/access.h"
#include "daemon/flow/admin.h"
#include "daemon/flow/evict.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

class EvictionLimits : public StoreFixture {
 protected:
  void start(std::uint64_t slots, const StoreOptions& options = {}) {
    make_store(slots, options);
    client_ = &add_client();
    space_ = usual_space(*client_);
  }
  void put_singly(SimClient& client, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t chain = first; chain < first + count; ++chain) put(client, space_, keys_of(chain, 1));
  }
  std::size_t granted(SimClient& client, SpaceId space, std::uint64_t chain, std::size_t count) {
    return holds_of(reserve(client, space, keys_of(chain, count), true)).size();
  }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

TEST_F(EvictionLimits, a_leased_block_is_looked_at_again_only_after_the_others) {
  start(64);
  put_singly(*client_, 100, 64);
  std::vector<SimLease> leases;
  for (std::uint64_t chain = 100; chain < 110; ++chain)
    leases.push_back(*client_->acquire(space_, pattern_key(chain, 0)));
  EXPECT_EQ(granted(*client_, space_, 1, 1), 1U);
  EXPECT_EQ(stats().evict_scanned, 11U);
  EXPECT_EQ(granted(*client_, space_, 2, 1), 1U);
  EXPECT_EQ(stats().evict_scanned, 12U);
  for (SimLease& lease : leases) SimClient::release(lease);
}

// What a call names is there when it is answered: the coldest block of a full pool makes no room for its own end.
TEST_F(EvictionLimits, a_reservation_does_not_evict_what_it_names) {
  start(64);
  put(*client_, space_, keys_of(1, 8));
  advance(kRecencyGrainMs * kNsPerMs);
  put_singly(*client_, 100, 56);
  for (const bool is_all : {false, true}) {
    std::vector<Key> keys = keys_of(1, 8);
    const std::vector<Key> more = keys_of(is_all ? 3 : 2, 20);
    keys.insert(keys.end(), more.begin(), more.end());
    const std::vector<Reservation> answers = reserve(*client_, space_, keys, is_all);
    EXPECT_EQ(last_completion_.code, Code::kOk);
    EXPECT_EQ(holds_of(answers).size(), 20U);
    EXPECT_EQ(count_ready(*client_, space_, keys_of(1, 8)), 8U) << "still there";
    client_->abort(holds_of(answers));
    settle();
    put_singly(*client_, is_all ? 300 : 200, 20);  // full again
  }
}

TEST_F(EvictionLimits, a_reservation_does_not_evict_its_parent) {
  start(64);
  put(*client_, space_, keys_of(1, 1));
  advance(kRecencyGrainMs * kNsPerMs);
  put_singly(*client_, 100, 63);
  const std::vector<Key> more = keys_of(2, 10);
  EXPECT_EQ(holds_of(reserve(*client_, space_, more, true, pattern_key(1, 0))).size(), 10U);
  EXPECT_EQ(client_->match(space_, pattern_key(1, 0)), 1);
}

TEST_F(EvictionLimits, a_cold_prefix_longer_than_a_scan_leaves_from_its_end_at_the_first_attempt) {
  constexpr std::uint64_t kLength = 2 * kEvictScanMax;
  start(kLength, {.slab_bytes = 512 * kBlock});
  put_chain(*client_, space_, keys_of(1, kLength));
  client_->map_directory();  // it grew
  advance(kRecencyGrainMs * kNsPerMs);
  for (std::uint64_t i = 0; i < kLength; ++i) {
    client_->log_access(space_, pattern_key(1, i), 1);
    settle();
  }
  EXPECT_EQ(granted(*client_, space_, 2, 1), 1U);
  EXPECT_EQ(stats().evictions, 1U);
  EXPECT_EQ(client_->match(space_, pattern_key(1, kLength - 1)), 0);
  EXPECT_EQ(stats().evict_scanned, 1U) << "what others continue is no candidate";
}

TEST_F(EvictionLimits, the_background_keeps_an_eighth_of_a_small_class_free_and_no_more) {
  start(64, {.low_water_blocks = 50});
  put_singly(*client_, 100, 64);
  advance(kNsPerSecond);
  EXPECT_EQ(stats().evictions, 8U);
  EXPECT_EQ(stats().slots_free, 8U);
}

TEST_F(EvictionLimits, who_has_less_than_its_share_asks_for_a_slab_and_does_not_wear_out_its_own) {
  start(256);
  put_singly(*client_, 100, 252);
  SimClient& poor = add_client();
  (void)usual_space(poor);
  put_singly(poor, 400, 4);
  ASSERT_EQ(stats().slab_revokes, 0U);
  EXPECT_EQ(granted(poor, space_, 1, 1), 1U);
  EXPECT_EQ(stats().slab_revokes, 1U);
  for (std::uint64_t chain = 400; chain < 404; ++chain)
    EXPECT_EQ(poor.match(space_, pattern_key(chain, 0)), 1);
}

TEST_F(EvictionLimits, a_reserve_of_blocks_that_are_there_counts_as_their_use) {
  start(8);
  put(*client_, space_, keys_of(1, 4));
  put(*client_, space_, keys_of(2, 4));
  advance(kRecencyGrainMs * kNsPerMs);
  (void)reserve(*client_, space_, keys_of(1, 4));
  EXPECT_EQ(granted(*client_, space_, 3, 4), 4U);
  EXPECT_EQ(count_ready(*client_, space_, keys_of(1, 4)), 4U);
  EXPECT_EQ(count_ready(*client_, space_, keys_of(2, 4)), 0U);
}

// Two slabs each of one and two pages a slot.
TEST_F(EvictionLimits, a_slot_size_takes_a_slab_of_another_only_if_that_ones_blocks_are_much_colder) {
  start(16);
  put_singly(*client_, 100, 8);
  const SpaceId large = client_->register_space(encoded_spec("large", 2 * kBlock));
  for (std::uint64_t chain = 200; chain < 204; ++chain) put(*client_, large, keys_of(chain, 1));
  advance(10 * kNsPerSecond);
  EXPECT_EQ(granted(*client_, large, 1, 1), 1U);
  EXPECT_EQ(stats().slabs_emptied, 0U) << "its own are as old";
  EXPECT_EQ(stats().evictions, 1U);
  for (std::uint64_t chain = 201; chain < 204; ++chain) client_->log_access(large, pattern_key(chain, 0), 1);
  settle();
  client_->abort(holds_of(reserve(*client_, large, keys_of(1, 1))));
  advance(kNsPerSecond);
  EXPECT_EQ(granted(*client_, large, 2, 2), 2U);
  EXPECT_EQ(stats().slabs_emptied, 1U);
}

TEST_F(EvictionLimits, the_blocks_that_wait_for_their_checksum_are_counted) {
  start(64);
  put_singly(*client_, 100, 10);
  EXPECT_EQ(stats().blocks_unsummed, 10U);
  EXPECT_EQ(store_->admin().evict({{}, to_hex(pattern_key(100, 0))}, {}, 1000).evicted, 1U);
  EXPECT_EQ(stats().blocks_unsummed, 9U) << "what left waits no more";
  advance(2 * kNsPerSecond);
  std::uint64_t sums = 0;
  while (const std::optional<ChecksumJob> job = store_->checksum_next()) {
    store_->checksum_done(*job, 1);
    ++sums;
  }
  EXPECT_EQ(sums, 9U);
  EXPECT_EQ(stats().blocks_unsummed, 0U);
}

}  // namespace
}  // namespace kvtier::test
