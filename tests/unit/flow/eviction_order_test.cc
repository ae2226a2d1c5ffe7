// What an eviction finds when prefixes were used in pieces, so that parents lie colder than their children. Work is
// counted, not timed.

#include "daemon/flow/access.h"
#include "libkvclient/base/prng.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

class EvictionOrder : public StoreFixture {
 protected:
  void start(std::uint64_t slots) {
    make_store(slots);
    client_ = &add_client();
    space_ = usual_space(*client_);
  }
  // As a reader that takes one block at a time, some time after the last use.
  void use_singly(std::uint64_t chain, std::size_t count, std::size_t first = 0) {
    advance(kRecencyGrainMs * kNsPerMs);
    for (std::size_t i = first; i < first + count; ++i) {
      client_->log_access(space_, pattern_key(chain, i), 1);
      settle();
    }
  }
  std::size_t granted(std::uint64_t chain, std::size_t count) {
    return holds_of(reserve(*client_, space_, keys_of(chain, count), true)).size();
  }
  [[nodiscard]] std::size_t ready(std::uint64_t chain, std::size_t count) {
    return count_ready(*client_, space_, keys_of(chain, count));
  }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

TEST_F(EvictionOrder, P_05_a_prefix_that_was_read_block_by_block_can_leave_as_a_whole) {
  start(64);
  put(*client_, space_, keys_of(1, 64));
  use_singly(1, 64);
  const std::uint64_t scanned = stats().evict_scanned;
  EXPECT_EQ(granted(2, 64), 64U);
  EXPECT_EQ(stats().evictions, 64U);
  EXPECT_EQ(stats().evict_scanned - scanned, 64U) << "each behind what continued it";
}

TEST_F(EvictionOrder, P_05_passing_over_a_long_prefix_is_paid_once) {
  start(1024);
  put_chain(*client_, space_, keys_of(1, 1024));
  use_singly(1, 1024);
  const std::uint64_t scanned = stats().evict_scanned;
  for (std::uint64_t chain = 100; chain < 116; ++chain) ASSERT_EQ(granted(chain, 32), 32U);
  EXPECT_EQ(ready(1, 1024), 512U);
  EXPECT_EQ(ready(1, 512), 512U) << "its tail left";
  EXPECT_EQ(stats().evictions, 512U);
  EXPECT_LE(stats().evict_scanned - scanned, 1024U + 2 * 512U);
}

// Only the end of the first prefix is still used: its beginning is as warm as that.
TEST_F(EvictionOrder, P_05_a_cold_beginning_with_a_warm_end_stays) {
  start(64);
  put(*client_, space_, keys_of(1, 32));
  put(*client_, space_, keys_of(2, 32));
  use_singly(1, 1, 31);
  EXPECT_EQ(granted(3, 32), 32U);
  EXPECT_EQ(ready(1, 32), 32U);
  EXPECT_EQ(ready(2, 32), 0U);
}

TEST_F(EvictionOrder, P_05_a_leased_end_keeps_its_prefix_and_nothing_else) {
  start(64);
  put(*client_, space_, keys_of(1, 32));
  put(*client_, space_, keys_of(2, 32));
  use_singly(1, 32);
  use_singly(2, 32);
  std::optional<SimLease> lease = client_->acquire(space_, pattern_key(1, 31));
  ASSERT_TRUE(lease.has_value());
  EXPECT_EQ(granted(3, 33), 0U);
  EXPECT_EQ(last_completion_.cause, Cause::kPinnedBy);
  EXPECT_EQ(stats().evictions, 0U) << "all or nothing";
  EXPECT_EQ(granted(3, 32), 32U);
  EXPECT_EQ(ready(1, 32), 32U);
  expect_exact(*lease);
  SimClient::release(*lease);
  EXPECT_EQ(granted(4, 32), 32U);
}

TEST_F(EvictionOrder, P_05_branches_of_one_beginning_leave_before_it) {
  start(64);
  put(*client_, space_, keys_of(1, 16));
  for (std::uint64_t chain = 2; chain < 5; ++chain)
    commit(*client_, reserve(*client_, space_, keys_of(chain, 16), true, pattern_key(1, 15)));
  for (std::uint64_t chain = 1; chain < 5; ++chain) use_singly(chain, 16);
  ASSERT_EQ(granted(9, 40), 40U);
  EXPECT_EQ(ready(1, 16), 16U);
  ASSERT_EQ(granted(10, 24), 24U);
  EXPECT_EQ(stats().evictions, 64U);
}

// Whatever was used in whatever order: with no lease there is always room for what fits.
class EvictionAfterAnyUse : public EvictionOrder, public ::testing::WithParamInterface<std::uint64_t> {
 protected:
  void use_something(std::uint64_t chains) {
    const std::uint64_t chain = 1 + chance_.below(chains);
    const std::uint64_t last = chance_.below(32);
    if (client_->match(space_, pattern_key(chain, last)) != 1) return;
    client_->log_access(space_, pattern_key(chain, last),
                        static_cast<std::uint16_t>(1 + chance_.below(last + 1)));
    settle();
  }
  Prng chance_{GetParam()};
};

TEST_P(EvictionAfterAnyUse, P_05_everything_can_leave) {
  start(128);
  for (std::uint64_t chain = 1; chain <= 4; ++chain) put(*client_, space_, keys_of(chain, 32));
  for (std::uint64_t chain = 5; chain < 45; ++chain) {
    for (int use = 0; use < 60; ++use) {
      if (chance_.below(3) == 0) advance(kRecencyGrainMs * kNsPerMs);
      use_something(chain - 1);
    }
    const std::size_t count = 1 + chance_.below(32);
    const std::vector<Reservation> got = reserve(*client_, space_, keys_of(chain, count), true);
    ASSERT_EQ(holds_of(got).size(), count);
    commit(*client_, got);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, EvictionAfterAnyUse, ::testing::Range<std::uint64_t>(1, 21));

}  // namespace
}  // namespace kvtier::test
