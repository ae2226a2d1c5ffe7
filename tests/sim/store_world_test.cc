// Random clients against the store (store_world.h). KVTIER_SIM_SEED replays one seed, KVTIER_SIM_SEEDS runs so many.

#include "tests/sim/store_world.h"

namespace kvtier::test {
namespace {

void add(StoreStats& sum, const StoreStats& one) {
  sum.evictions += one.evictions;
  sum.evict_put_back += one.evict_put_back;
  sum.slab_revokes += one.slab_revokes;
  sum.slab_reshapes += one.slab_reshapes;
  sum.slab_retirements += one.slab_retirements;
  sum.evictions_invalidated += one.evictions_invalidated;
  sum.commits_refused += one.commits_refused;
  sum.aborts_by_exit += one.aborts_by_exit;
  sum.reserve_pending += one.reserve_pending;
  sum.no_space_pinned += one.no_space_pinned;
  sum.no_space_writer_busy += one.no_space_writer_busy;
  sum.hits_host += one.hits_host;
  sum.stock_grants += one.stock_grants;
  sum.stock_returns += one.stock_returns;
  sum.stock_races_lost += one.stock_races_lost;
}

TEST(StoreWorld, NoWrongBytesNoLeaks) {
  StoreStats sum;
  const bool is_whole = for_each_seed(60, [&](std::uint64_t seed) {
    StoreWorld world(seed);
    world.run(2000);
    add(sum, world.seen_);
  });
  // The worlds went where the faults are; a change that keeps them away from there shows here.
  if (!is_whole) return;
  EXPECT_GT(sum.evictions, 1000U);
  EXPECT_GT(sum.evict_put_back, 1000U);
  EXPECT_GT(sum.slab_revokes, 100U);
  EXPECT_GT(sum.slab_reshapes, 10U);
  EXPECT_GT(sum.slab_retirements, 10U);
  EXPECT_GT(sum.evictions_invalidated, 100U);
  EXPECT_GT(sum.commits_refused, 10U);
  EXPECT_GT(sum.aborts_by_exit, 100U);
  EXPECT_GT(sum.reserve_pending, 100U);
  EXPECT_GT(sum.no_space_pinned + sum.no_space_writer_busy, 10U);  // the pools are small: mostly the latter
  EXPECT_GT(sum.hits_host, 1000U);
  EXPECT_GT(sum.stock_grants, 1000U);
  EXPECT_GT(sum.stock_returns, 100U);
  EXPECT_GT(sum.stock_races_lost, 100U);
}

}  // namespace
}  // namespace kvtier::test
