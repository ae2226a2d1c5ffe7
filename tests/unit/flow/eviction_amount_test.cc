// How much eviction a request may cause, and what probes and leases do to it.

#include "daemon/flow/access.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

class EvictionAmount : public StoreFixture {
 protected:
  // Pool 100 with 10 free: 90 blocks, each a chain of its own.
  void fill_90(SimClient& writer, SpaceId space) {
    for (std::uint64_t chain = 0; chain < 90; ++chain) put(writer, space, keys_of(chain, 1));
    ASSERT_EQ(stats().blocks_ready, 90U);
    ASSERT_EQ(stats().evictions, 0U);
  }
};

TEST_F(EvictionAmount, P_03_reserve_evicts_only_what_is_missing) {
  make_store(100);
  SimClient& writer = add_client();
  const SpaceId space = usual_space(writer);
  fill_90(writer, space);
  const std::vector<Reservation> got = reserve(writer, space, keys_of(1000, 12));
  EXPECT_EQ(holds_of(got).size(), 12U);
  EXPECT_EQ(stats().evictions, 2U);
  EXPECT_EQ(stats().blocks_ready, 88U);
}

TEST_F(EvictionAmount, P_03_the_background_pass_evicts_at_most_its_batch) {
  StoreOptions options;
  options.low_water_blocks = 5;
  make_store(100, options);
  SimClient& writer = add_client();
  const SpaceId space = usual_space(writer);
  fill_90(writer, space);
  EXPECT_EQ(holds_of(reserve(writer, space, keys_of(1000, 12))).size(), 12U);
  advance(kNsPerSecond);
  EXPECT_GE(stats().evictions, 2U);
  EXPECT_LE(stats().evictions, 2U + 5U);
}

TEST_F(EvictionAmount, P_03_with_everything_leased_nothing_is_evicted_and_the_holder_is_named) {
  make_store(100);
  SimClient& writer = add_client();
  const SpaceId space = usual_space(writer);
  fill_90(writer, space);
  SimClient& reader = add_client("main", 4711);
  (void)usual_space(reader);
  std::vector<SimLease> leases;
  for (std::uint64_t chain = 0; chain < 90; ++chain)
    leases.push_back(*reader.acquire(space, pattern_key(chain, 0)));
  const std::vector<Reservation> got = reserve(writer, space, keys_of(1000, 12), true);
  EXPECT_EQ(last_completion_.code, Code::kNoSpace);
  EXPECT_EQ(last_completion_.cause, Cause::kPinnedBy);
  EXPECT_EQ(last_completion_.detail, 4711U);
  for (const Reservation& each : got) EXPECT_EQ(each.result.code, Code::kNoSpace);
  EXPECT_EQ(stats().evictions, 0U);
  EXPECT_EQ(stats().blocks_ready, 90U);
  for (SimLease& lease : leases) {
    expect_exact(lease);
    SimClient::release(lease);
  }
  EXPECT_EQ(holds_of(reserve(writer, space, keys_of(1000, 12), true)).size(), 12U);
}

TEST_F(EvictionAmount, P_03_what_is_free_is_granted_although_everything_else_is_leased) {
  make_store(100);
  SimClient& writer = add_client();
  const SpaceId space = usual_space(writer);
  fill_90(writer, space);
  std::vector<SimLease> leases;
  for (std::uint64_t chain = 0; chain < 90; ++chain)
    leases.push_back(*writer.acquire(space, pattern_key(chain, 0)));
  EXPECT_EQ(holds_of(reserve(writer, space, keys_of(1000, 12))).size(), 10U);
  EXPECT_EQ(last_completion_.cause, Cause::kPinnedBy);
  EXPECT_EQ(stats().evictions, 0U);
  for (SimLease& lease : leases) SimClient::release(lease);
}

TEST_F(EvictionAmount, P_03_more_than_the_pool_is_refused_without_evicting) {
  make_store(100);
  SimClient& writer = add_client();
  const SpaceId space = usual_space(writer);
  fill_90(writer, space);
  const std::vector<Reservation> got = reserve(writer, space, keys_of(1000, 200), true);
  EXPECT_EQ(holds_of(got).size(), 0U);
  EXPECT_EQ(last_completion_.cause, Cause::kRequestTooLarge);
  EXPECT_EQ(stats().evictions, 0U);
  EXPECT_EQ(stats().blocks_ready, 90U);
}

// Work is counted, not timed: what an eviction looks at does not grow with what is resident.
TEST_F(EvictionAmount, P_01_an_eviction_costs_the_same_in_a_small_and_a_large_pool) {
  for (const std::uint64_t slots : {256U, 1024U, 4096U}) {
    SCOPED_TRACE(slots);
    clients_.clear();
    make_store(slots);
    SimClient& writer = add_client();
    const SpaceId space = usual_space(writer);
    for (std::uint64_t chain = 0; chain < slots / 64; ++chain) put(writer, space, keys_of(chain, 64));
    ASSERT_EQ(stats().slots_free, 0U);
    const std::uint64_t scanned = stats().evict_scanned;
    for (std::uint64_t chain = 1000; chain < 1050; ++chain) put(writer, space, keys_of(chain, 64));
    EXPECT_EQ(stats().evictions, 50U * 64U);
    EXPECT_LE(stats().evict_scanned - scanned, 2U * 50U * 64U);
  }
}

TEST_F(EvictionAmount, L_03_matches_without_use_keep_nothing) {
  make_store(64);
  SimClient& writer = add_client();
  const SpaceId space = usual_space(writer);
  SimClient& prober = add_client();
  (void)usual_space(prober);
  const std::vector<Key> old = keys_of(1, 32);
  put(writer, space, old);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(count_ready(prober, space, old), old.size());
    // Half of the matched blocks are used now and then.
    if (i % 10 != 0) continue;
    for (std::size_t k = 0; k < old.size(); k += 2) {
      std::optional<SimLease> lease = prober.acquire(space, old[k]);
      ASSERT_TRUE(lease.has_value());
      SimClient::release(*lease);
    }
  }
  let_age();
  for (std::uint64_t chain = 100; chain < 100 + 3 * 64; ++chain) put(writer, space, keys_of(chain, 1));
  EXPECT_EQ(count_ready(prober, space, old), 0U);
  EXPECT_EQ(stats().blocks_pinned, 0U);
  EXPECT_EQ(stats().evict_put_back, 0U);
}

TEST_F(EvictionAmount, P_05_probes_of_ten_clients_do_not_stop_writes) {
  make_store(64);
  SimClient& writer = add_client();
  const SpaceId space = usual_space(writer);
  std::vector<SimClient*> probers;
  for (int i = 0; i < 10; ++i) {
    probers.push_back(&add_client());
    (void)usual_space(*probers.back());
  }
  for (std::uint64_t chain = 0; chain < 256; ++chain) {
    put(writer, space, keys_of(chain, 1));
    for (SimClient* prober : probers)
      (void)count_ready(*prober, space, {pattern_key(chain / 2, 0), pattern_key(chain, 0)});
  }
  EXPECT_EQ(stats().no_space_pinned, 0U);
  EXPECT_EQ(stats().evict_put_back, 0U);
}

TEST_F(EvictionAmount, P_05_a_match_is_no_use_and_an_acquire_is) {
  make_store(16);
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  for (std::uint64_t chain = 0; chain < 16; ++chain) put(client, space, keys_of(chain, 1));
  EXPECT_EQ(client.match(space, pattern_key(0, 0)), 1);  // the coldest, and it stays that
  advance(kRecencyGrainMs * kNsPerMs);
  std::optional<SimLease> lease = client.acquire(space, pattern_key(1, 0));
  ASSERT_TRUE(lease.has_value());
  client.log_access(space, lease->key, 1);
  SimClient::release(*lease);
  put(client, space, keys_of(100, 2));
  EXPECT_EQ(client.match(space, pattern_key(0, 0)), 0);
  EXPECT_EQ(client.match(space, pattern_key(1, 0)), 1);
  EXPECT_EQ(client.match(space, pattern_key(2, 0)), 0);
}

// A use that follows another closely moves nothing: an eviction finds its victims all the same.
TEST_F(EvictionAmount, P_05_uses_close_to_each_other_hide_no_victim) {
  make_store(64);
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  put(client, space, keys_of(1, 32));
  advance(60 * kNsPerMs);
  client.log_access(space, pattern_key(1, 15), 16);
  advance(30 * kNsPerMs);
  client.log_access(space, pattern_key(1, 31), 32);
  advance(kNsPerMs);
  const std::uint64_t scanned_before = stats().evict_scanned;
  put(client, space, keys_of(2, 48));
  EXPECT_LE(stats().evict_scanned - scanned_before, 32U);
  EXPECT_EQ(count_ready(client, space, keys_of(1, 32)), 16U);
}

}  // namespace
}  // namespace kvtier::test
