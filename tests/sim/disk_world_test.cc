// The store on disk under power cuts and kills at any step, recovery, seals and reclaim included. KVTIER_SIM_SEED replays
// one seed, KVTIER_SIM_SEEDS runs so many.

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/sim/disk_world.h"

namespace kvtier::test {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

void add(DiskWorldStats& sum, const DiskWorldStats& one) {
  sum.cuts_while_opening += one.cuts_while_opening;
  sum.cuts_while_serving += one.cuts_while_serving;
  sum.kills += one.kills;
  sum.clean_ends += one.clean_ends;
  sum.reads_ok += one.reads_ok;
  sum.reads_refused += one.reads_refused;
  sum.must_checked += one.must_checked;
  sum.void_checked += one.void_checked;
  sum.store.segments_reclaimed += one.store.segments_reclaimed;
  sum.store.segments_sealed += one.store.segments_sealed;
  sum.store.recovered_scans += one.store.recovered_scans;
  sum.store.recovered_void += one.store.recovered_void;
  sum.store.blocks_moved += one.store.blocks_moved;
  sum.store.blocks_dropped += one.store.blocks_dropped;
  sum.store.marks += one.store.marks;
  sum.store.marks_ended += one.store.marks_ended;
  for (std::size_t i = 0; i < kDiskFaultCount; ++i) sum.store.faults[i] += one.store.faults[i];
}

/// Sums over all seeds, and what the oracle objected to, if it did.
struct Runs {
  DiskWorldStats sum;
  std::string objection;
  std::uint64_t seed = 0;
};

Runs run_worlds(std::uint64_t seeds, DiskWorldOptions options, std::uint64_t first = 1) {
  const std::uint64_t one = from_environment("KVTIER_SIM_SEED", 0);
  Runs runs;
  for (std::uint64_t i = 1; i <= (one != 0 ? 1 : seeds) && runs.objection.empty(); ++i) {
    runs.seed = options.seed = one != 0 ? one : first + i - 1;
    DiskWorld world(options);
    runs.objection = world.run();
    add(runs.sum, world.stats());
  }
  return runs;
}

TEST(DiskWorld, NothingFlushedIsLostAndNothingTornIsServed_D16_R04) {
  const std::uint64_t seeds = from_environment("KVTIER_SIM_SEEDS", 120);
  const Runs runs = run_worlds(seeds, {});
  ASSERT_EQ(runs.objection, "") << "KVTIER_SIM_SEED=" << runs.seed;
  // The worlds went where the faults are; a change that keeps them away from there shows here.
  if (runs.seed < 120) return;
  EXPECT_GT(runs.sum.cuts_while_opening, 100U);
  EXPECT_GT(runs.sum.cuts_while_serving, 300U);
  EXPECT_GT(runs.sum.kills, 100U);
  EXPECT_GT(runs.sum.clean_ends, 10U);
  EXPECT_GT(runs.sum.must_checked, 1000U);
  EXPECT_GT(runs.sum.void_checked, 300U);
  EXPECT_GT(runs.sum.reads_ok, 5000U);
  EXPECT_GT(runs.sum.store.segments_sealed, 1000U);
  EXPECT_GT(runs.sum.store.segments_reclaimed, 300U);
  EXPECT_GT(runs.sum.store.recovered_scans, 100U);
  EXPECT_GT(runs.sum.store.recovered_void, 100U);
  EXPECT_GT(runs.sum.store.blocks_moved, 300U);
  EXPECT_GT(runs.sum.store.blocks_dropped, 100U);
  EXPECT_GT(runs.sum.store.marks_ended, 30U);
  RecordProperty("blocks that had to be there", std::to_string(runs.sum.must_checked));
}

// Bits flip, sectors are swapped, units are random or another's, between lives: no wrong byte is ever served, and the
// store opens each time.
TEST(DiskWorld, NoWrongByteIsServedFromDisksThatRot_R06_C06) {
  const Runs runs = run_worlds(from_environment("KVTIER_SIM_SEEDS", 60), {.has_bit_rot = true});
  ASSERT_EQ(runs.objection, "") << "KVTIER_SIM_SEED=" << runs.seed;
  if (runs.seed < 60) return;
  EXPECT_GT(runs.sum.reads_ok, 1000U);
  for (const DiskFault fault : {DiskFault::kPayloadDamaged, DiskFault::kHeaderDamaged})
    EXPECT_GT(runs.sum.store.faults[static_cast<std::size_t>(fault)], 1U) << disk_fault_name(fault);
}

// Kills and power cuts while it opens, again and again: the store opens in the end, with all that was promised.
TEST(DiskWorld, NoRowOfCutsWhileItOpensLosesTheStore) {
  const Runs runs = run_worlds(from_environment("KVTIER_SIM_SEEDS", 60), {.lives = 20, .is_cut_early = true});
  ASSERT_EQ(runs.objection, "") << "KVTIER_SIM_SEED=" << runs.seed;
}

/// A place that waits for an fdatasync. The search for a world that misses it begins where there is one today.
struct SyncPoint {
  const char* name;
  SyncCause cause;
  std::uint64_t first_seed;
};
void PrintTo(const SyncPoint& point, std::ostream* out) {
  *out << point.name;
}

class SyncPoints : public testing::TestWithParam<SyncPoint> {};

TEST_P(SyncPoints, TheOracleObjectsWhenItIsLeftOut) {
  const bool is_opening = GetParam().cause == SyncCause::kOpening;
  const DiskWorldOptions options{.lives = is_opening ? 20U : 6U,
                                 .syncs_left_out = 1U << static_cast<unsigned>(GetParam().cause),
                                 .is_cut_early = is_opening,
                                 .is_closed_often = GetParam().cause == SyncCause::kClose};
  const Runs runs = run_worlds(1000, options, GetParam().first_seed);
  EXPECT_NE(runs.objection, "") << "nobody missed it, up to the world of seed " << runs.seed;
  RecordProperty("objection", runs.objection);
  RecordProperty("seed", std::to_string(runs.seed));
}

INSTANTIATE_TEST_SUITE_P(
    Each, SyncPoints,
    testing::Values(SyncPoint{"flush", SyncCause::kFlush, 80}, SyncPoint{"mark", SyncCause::kMark, 1},
                    SyncPoint{"seal", SyncCause::kSeal, 365}, SyncPoint{"moved", SyncCause::kMoved, 1},
                    SyncPoint{"erased", SyncCause::kErased, 1},
                    SyncPoint{"superblock_first", SyncCause::kSuperblockFirst, 1},
                    SyncPoint{"superblock_second", SyncCause::kSuperblockSecond, 1},
                    SyncPoint{"close", SyncCause::kClose, 1}, SyncPoint{"opening", SyncCause::kOpening, 40}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace kvtier::test
