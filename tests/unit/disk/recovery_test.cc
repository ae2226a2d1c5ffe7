// The table of FORMAT.md, "Recovery"; which copy counts, and what marks void.

#include "daemon/disk/format_recovery.h"

#include <gtest/gtest.h>

#include <vector>

#include "daemon/disk/format_order.h"

namespace kvtier {
namespace {

using Choice = RecoveryChoice;
using Fault = DiskFault;

SegmentIdentity use(std::uint64_t generation, std::uint64_t epoch) {
  return {.store = {{1, 2}}, .path = 0, .segment = 3, .generation = generation, .epoch = epoch};
}

struct Case {
  Fault header;
  SegmentIdentity header_use;
  Fault trailer;
  SegmentIdentity trailer_use;
  Fault index;
  Choice choice;
  Fault counted;
  std::uint64_t generation;
};

TEST(DiskRecovery, EachFindingHasItsChoice) {
  const SegmentIdentity now = use(8, 3);
  const SegmentIdentity old = use(5, 3);
  const SegmentIdentity old_epoch = use(8, 2);
  const std::vector<Case> cases = {
      {Fault::kNone, now, Fault::kNone, now, Fault::kNone, Choice::kFooter, Fault::kNone, 8},
      {Fault::kNone, now, Fault::kNone, old, Fault::kNone, Choice::kScan, Fault::kNone, 8},
      {Fault::kNone, now, Fault::kNone, old_epoch, Fault::kNone, Choice::kScan, Fault::kNone, 8},
      {Fault::kNone, now, Fault::kNone, use(9, 2), Fault::kNone, Choice::kScan, Fault::kNone, 8},
      {Fault::kNone, old, Fault::kNone, now, Fault::kNone, Choice::kFooter, Fault::kNone, 8},
      {Fault::kNone, old_epoch, Fault::kNone, now, Fault::kNone, Choice::kFooter, Fault::kNone, 8},
      {Fault::kNone, now, Fault::kNone, old, Fault::kIndexDamaged, Choice::kScan, Fault::kNone, 8},
      {Fault::kNone, now, Fault::kNone, now, Fault::kIndexDamaged, Choice::kScan, Fault::kIndexDamaged, 8},
      {Fault::kNone, now, Fault::kNone, now, Fault::kTruncated, Choice::kScan, Fault::kTruncated, 8},
      {Fault::kNone, now, Fault::kNone, now, Fault::kMalformed, Choice::kScan, Fault::kMalformed, 8},
      {Fault::kNone, now, Fault::kEmpty, {}, Fault::kNone, Choice::kScan, Fault::kNone, 8},
      {Fault::kNone, now, Fault::kForeign, {}, Fault::kNone, Choice::kScan, Fault::kNone, 8},
      {Fault::kNone, now, Fault::kTruncated, {}, Fault::kNone, Choice::kScan, Fault::kTruncated, 8},
      {Fault::kNone, now, Fault::kHeaderDamaged, {}, Fault::kNone, Choice::kScan, Fault::kHeaderDamaged, 8},
      {Fault::kNone, now, Fault::kVersion, {}, Fault::kNone, Choice::kScan, Fault::kVersion, 8},
      {Fault::kHeaderDamaged, {}, Fault::kNone, now, Fault::kNone, Choice::kFooter, Fault::kHeaderDamaged, 8},
      {Fault::kEmpty, {}, Fault::kNone, now, Fault::kNone, Choice::kFooter, Fault::kEmpty, 8},
      {Fault::kHeaderDamaged,
       {},
       Fault::kNone,
       now,
       Fault::kIndexDamaged,
       Choice::kDrop,
       Fault::kHeaderDamaged,
       0},
      {Fault::kEmpty, {}, Fault::kEmpty, {}, Fault::kNone, Choice::kUnused, Fault::kNone, 0},
      {Fault::kEmpty, {}, Fault::kForeign, {}, Fault::kNone, Choice::kDrop, Fault::kEmpty, 0},
      {Fault::kForeign, {}, Fault::kEmpty, {}, Fault::kNone, Choice::kDrop, Fault::kForeign, 0},
      {Fault::kOtherStore, {}, Fault::kOtherStore, {}, Fault::kNone, Choice::kDrop, Fault::kOtherStore, 0},
      {Fault::kMisplaced, {}, Fault::kMisplaced, {}, Fault::kNone, Choice::kDrop, Fault::kMisplaced, 0},
      {Fault::kVersion, {}, Fault::kNone, now, Fault::kNone, Choice::kRefuse, Fault::kVersion, 0},
      {Fault::kEmpty, {}, Fault::kVersion, {}, Fault::kNone, Choice::kRefuse, Fault::kVersion, 0},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    const RecoveryPlan plan = choose_recovery({c.header, c.header_use, c.trailer, c.trailer_use, c.index});
    EXPECT_EQ(plan.choice, c.choice) << "case " << i;
    EXPECT_EQ(plan.counted, c.counted) << "case " << i;
    EXPECT_EQ(plan.identity, c.generation == 0 ? SegmentIdentity{} : now) << "case " << i;
  }
}

RecordOrder block(std::uint64_t sequence, std::uint64_t born) {
  return {RecordKind::kBlock, sequence, born, {{1}}, {{2}}, {{3}}};
}

TEST(DiskOrder, ATombstoneVoidsOlderRecordsOfItsKeyAlone) {
  RecordOrder mark = block(20, 20);
  mark.kind = RecordKind::kTombstone;
  EXPECT_TRUE(is_void(mark, block(10, 10)));
  EXPECT_FALSE(is_void(mark, block(21, 20)));
  for (Digest RecordOrder::*part : {&RecordOrder::tenant, &RecordOrder::space, &RecordOrder::key}) {
    RecordOrder other = block(10, 10);
    (other.*part).words[1] = 9;
    EXPECT_FALSE(is_void(mark, other));
  }
}

TEST(DiskOrder, AnInvalidationVoidsItsSpaceOrTheWholeNamespace) {
  RecordOrder mark{RecordKind::kInvalidation, 20, 20, {{1}}, {{2}}, {}};
  RecordOrder other_space = block(10, 10);
  other_space.space.words[0] = 7;
  RecordOrder other_tenant = block(10, 10);
  other_tenant.tenant.words[0] = 7;
  EXPECT_TRUE(is_void(mark, block(10, 10)));
  EXPECT_FALSE(is_void(mark, other_space));
  mark.space = {};
  EXPECT_TRUE(is_void(mark, other_space));
  EXPECT_FALSE(is_void(mark, other_tenant));
  EXPECT_FALSE(is_void(mark, block(30, 20)));
}

// Reclaim moved it while it was invalidated: written later, born before.
TEST(DiskOrder, C18_AMovedBlockDoesNotComeBackAfterItsInvalidation) {
  const RecordOrder mark{RecordKind::kInvalidation, 20, 20, {{1}}, {{2}}, {}};
  EXPECT_TRUE(is_void(mark, block(25, 19)));
  EXPECT_FALSE(is_void(mark, block(25, 21)));
}

TEST(DiskOrder, ABlockVoidsNothing) {
  EXPECT_FALSE(is_void(block(20, 20), block(10, 10)));
}

TEST(DiskOrder, TheLaterWriteCountsAndEpochsComeFirst) {
  EXPECT_TRUE(is_newer(block(sequence_number(1, 6), 1), block(sequence_number(1, 5), 1)));
  EXPECT_FALSE(is_newer(block(sequence_number(1, 5), 1), block(sequence_number(1, 5), 1)));
  EXPECT_TRUE(is_newer(block(sequence_number(2, 0), 1), block(sequence_number(1, 1ULL << 39), 1)));
}

TEST(DiskFaultNames, AreDistinct) {
  for (std::uint8_t i = 0; i < kDiskFaultCount; ++i) {
    for (std::uint8_t k = 0; k < i; ++k) {
      EXPECT_NE(disk_fault_name(static_cast<DiskFault>(i)), disk_fault_name(static_cast<DiskFault>(k)));
    }
  }
}

}  // namespace
}  // namespace kvtier
