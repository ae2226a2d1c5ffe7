// The small parts of the store: locators, the table of segments, budgets, marks, the index of an open segment.

#include <gtest/gtest.h>

#include "daemon/disk/mark_set.h"
#include "daemon/disk/open_index.h"
#include "daemon/disk/segment_table.h"
#include "tests/support/pattern_block.h"

namespace kvtier::test {
namespace {

DiskLocator locator_of(std::uint32_t segment, std::uint64_t generation, std::uint64_t epoch,
                       std::uint64_t count) {
  const IndexEntry entry{.sequence = sequence_number(epoch, count),
                         .header_sector = 8,
                         .payload_sector = 16,
                         .payload_bytes = 5000,
                         .header_bytes = record_bytes(1, 1)};
  return make_locator({{}, 3, segment, generation, epoch}, entry);
}

TEST(DiskLocator, SaysWhatItWasMadeOf) {
  const IndexEntry entry{.sequence = sequence_number(0xffffff, (1ULL << 40) - 1),
                         .header_sector = (1U << 27) - 1,
                         .payload_sector = 1U << 27,
                         .payload_bytes = 0xfffff000,
                         .header_bytes = kHeaderBytesMax};
  const DiskLocator locator = make_locator({{}, 63, 0xffffffff, (1ULL << 48) - 1, 0xffffff}, entry);
  EXPECT_EQ(locator.path(), 63U);
  EXPECT_EQ(locator.generation(), (1ULL << 48) - 1);
  EXPECT_EQ(locator.epoch(), 0xffffffU);
  EXPECT_EQ(locator.header_bytes(), kHeaderBytesMax);
  EXPECT_EQ(locator.header_offset(), std::uint64_t{(1U << 27) - 1} * 512);
  EXPECT_EQ(locator.payload_offset(), std::uint64_t{1U << 27} * 512);
  EXPECT_FALSE(locator.is_none());
  EXPECT_TRUE(DiskLocator{}.is_none());
  for (std::uint32_t parts = 1; parts <= kRecordPartsMax; ++parts) {
    IndexEntry each = entry;
    each.header_bytes = record_bytes(parts, 5 * parts);
    EXPECT_EQ(make_locator({}, each).header_bytes(), each.header_bytes);
  }
}

TEST(SegmentTable, OnlyThePresentUseOfASegmentIsCurrent_D16) {
  SegmentTable table(4);
  const DiskLocator locator = locator_of(0, 7, 2, 1);
  EXPECT_FALSE(table.is_current(locator)) << "free";
  table.open(0, 7, 2);
  EXPECT_TRUE(table.is_current(locator));
  EXPECT_FALSE(table.is_current(locator_of(0, 6, 2, 1))) << "an earlier use";
  EXPECT_FALSE(table.is_current(locator_of(0, 7, 1, 1))) << "the same generation of an earlier epoch";
  EXPECT_FALSE(table.is_current(locator_of(9, 7, 2, 1))) << "no such segment";
  table.set_state(0, SegmentState::kSealing);
  table.set_state(0, SegmentState::kSealed);
  table.set_state(0, SegmentState::kReclaiming);
  EXPECT_TRUE(table.is_current(locator)) << "read until it is erased";
  table.set_state(0, SegmentState::kErasing);
  EXPECT_FALSE(table.is_current(locator));
  table.free(0);
  EXPECT_EQ(table.count(SegmentState::kFree), 4U);
}

class Victim : public testing::Test {
 protected:
  /// Sealed, with its footer, and so many blocks that live.
  void seal(std::uint32_t segment, std::uint64_t generation, std::uint32_t blocks) {
    table_.open(segment, generation, 1);
    for (std::uint32_t j = 0; j < blocks; ++j) table_.count_live(block(segment, generation, j));
    table_.set_state(segment, SegmentState::kSealing);
    table_.set_state(segment, SegmentState::kSealed);
    table_[segment].index_bytes = 100;
  }
  void forget(std::uint32_t segment, std::uint64_t generation, std::uint32_t blocks) {
    for (std::uint32_t j = 0; j < blocks; ++j) table_.forget(block(segment, generation, j));
  }
  static DiskLocator block(std::uint32_t segment, std::uint64_t generation, std::uint32_t number) {
    return locator_of(segment, generation, 1, 20 * segment + number);
  }
  [[nodiscard]] std::optional<std::uint32_t> pick() const { return table_.pick_victim(); }

  SegmentTable table_{4};
};

// The tier was full of what came first, and kept it for ever, while the two or three youngest segments were written over
// and over.
TEST_F(Victim, IsTheOldestWhereAllIsLive) {
  seal(0, 7, 10);
  seal(1, 5, 10);
  seal(2, 6, 4);  // a daemon ended, or blocks were large: not full, and nothing is dead
  EXPECT_EQ(pick(), 1U);
}

TEST_F(Victim, IsWhereNothingLivesWhateverItsAge) {
  seal(0, 1, 10);
  forget(0, 1, 5);
  seal(1, 1000, 1);
  EXPECT_EQ(pick(), 0U);
  forget(1, 1000, 1);
  EXPECT_EQ(pick(), 1U);
}

// Equal at (1 - u) * age / (1 + u): 0.1 * 19 / 1.9 and 0.5 * 3 / 1.5.
TEST_F(Victim, AgeCountsAgainstWhatLives) {
  seal(0, 82, 10);
  forget(0, 82, 1);
  seal(1, 98, 10);
  forget(1, 98, 5);
  seal(2, 100, 10);
  EXPECT_EQ(pick(), 0U) << "of equals the older one";
  table_.forget(block(1, 98, 5));
  EXPECT_EQ(pick(), 1U) << "less lives";
}

TEST_F(Victim, IsNoYoungOneForOneDeadBlock) {
  seal(0, 1, 20);
  seal(1, 9, 20);
  forget(1, 9, 1);
  EXPECT_EQ(pick(), 0U);
  for (std::uint32_t i = 1; i < 18; ++i) table_.forget(block(1, 9, i));
  EXPECT_EQ(pick(), 1U);
}

TEST_F(Victim, HasAFooterOrNothingOfUse) {
  seal(0, 1, 2);
  table_[0].index_bytes = 0;
  EXPECT_EQ(pick(), std::nullopt) << "without a footer nobody knows what is in it";
  EXPECT_FALSE(table_.has_victim());
  table_[0].is_void = true;
  EXPECT_EQ(pick(), 0U);
  EXPECT_TRUE(table_.has_victim());
}

// A start finds it without a footer, and could not list it: it has what nobody was told of.
TEST_F(Victim, IsNoneOfAnEarlierLifeWithoutAFooter) {
  table_.set_state(0, SegmentState::kSealed);
  table_[0].generation = 1;
  EXPECT_EQ(pick(), std::nullopt);
  EXPECT_FALSE(table_.has_victim());
  seal(1, 2, 0);
  table_[1].index_bytes = 0;
  EXPECT_EQ(pick(), 1U) << "of this life, and all of it is dead";
}

// What was not told looks dead, and is not: it goes when there is no other way to make room.
TEST_F(Victim, HasWithheldBlocksOnlyWhereThereIsNoOther) {
  seal(0, 1, 0);
  table_[0].is_withheld = true;
  EXPECT_EQ(pick(), std::nullopt) << "there is room";
  seal(1, 2, 10);
  EXPECT_EQ(pick(), 1U);
  table_[1].is_withheld = true;
  table_.open(2, 3, 1);
  EXPECT_EQ(pick(), 0U);
}

TEST(SegmentTableDeath, AnIllegalChangeStopsTheProcess) {
  SegmentTable table(1);
  EXPECT_DEATH(table.set_state(0, SegmentState::kErasing), "a segment changes its state");
}

TEST(WriteBudget, FillsEvenlyAndHoldsABurst) {
  WriteBudget budget({.bytes_per_day = 86'400, .burst_bytes = 100});
  EXPECT_TRUE(budget.take(100, kNsPerSecond));
  EXPECT_FALSE(budget.take(1, kNsPerSecond));
  EXPECT_FALSE(budget.take(11, 11 * kNsPerSecond)) << "one byte a second: ten are there";
  EXPECT_TRUE(budget.take(10, 11 * kNsPerSecond));
  EXPECT_EQ(budget.level_bytes(1000 * kNsPerSecond), 100U) << "no more than the burst";
  EXPECT_EQ(budget.refused_bytes(), 12U);
  EXPECT_EQ(budget.taken_bytes(), 110U);
}

TEST(WriteBudget, WhatWasWrittenAllTheSameIsPaidFirst) {
  WriteBudget budget({.bytes_per_day = 86'400, .burst_bytes = 100});
  budget.charge(130, kNsPerSecond);
  EXPECT_EQ(budget.level_bytes(kNsPerSecond), 0U);
  EXPECT_FALSE(budget.take(1, 31 * kNsPerSecond)) << "thirty seconds pay the debt";
  EXPECT_TRUE(budget.take(1, 32 * kNsPerSecond));
  EXPECT_EQ(budget.level_bytes(1000 * kNsPerSecond), 100U);
  EXPECT_EQ(budget.taken_bytes(), 131U);
}

TEST(WriteBudget, LosesNothingToRoundingHoweverOftenItIsAsked) {
  WriteBudget budget({.bytes_per_day = 86'400, .burst_bytes = 1'000'000});
  EXPECT_TRUE(budget.take(1'000'000, 1));
  for (TimeNs now_ns = 1; now_ns <= 10 * kNsPerSecond; now_ns += 7 * kNsPerMs)
    (void)budget.level_bytes(now_ns);
  EXPECT_EQ(budget.level_bytes(10 * kNsPerSecond + 1), 10U);
  WriteBudget none({.bytes_per_day = 0, .burst_bytes = 0});
  EXPECT_FALSE(none.take(1, kNsPerDay));
  WriteBudget unlimited({});
  EXPECT_TRUE(unlimited.take(1ULL << 60, 0));
}

// Whatever the life before had, it may have taken it all up to its last write.
TEST(WriteBudget, AStartBringsNoBurstOfItsOwn) {
  WriteBudget soon({.bytes_per_day = 86'400, .burst_bytes = 100});
  soon.resume_after(30 * kNsPerSecond);
  EXPECT_EQ(soon.level_bytes(kNsPerSecond), 30U);
  EXPECT_EQ(soon.level_bytes(11 * kNsPerSecond), 40U);
  WriteBudget late({.bytes_per_day = 86'400, .burst_bytes = 100});
  late.charge(20, kNsPerSecond);  // what the opening wrote
  late.resume_after(kNsPerDay);
  EXPECT_EQ(late.level_bytes(kNsPerSecond), 80U);
  WriteBudget unlimited({});
  unlimited.resume_after(0);
  EXPECT_TRUE(unlimited.take(1ULL << 60, 0));
}

RecordOrder order(RecordKind kind, std::uint64_t born, std::uint64_t space, std::uint64_t key) {
  return {.kind = kind,
          .sequence = born,
          .born = born,
          .tenant = pattern_key(9, 9),
          .space = space == 0 ? Digest{} : pattern_key(2, space),
          .key = key == 0 ? Key{} : pattern_key(3, key)};
}

TEST(MarkSet, VoidsWhatIsOlderByKeyBySpaceAndByNamespace) {
  MarkSet marks(8);
  marks.add(order(RecordKind::kTombstone, 10, 1, 1));
  marks.add(order(RecordKind::kTombstone, 20, 1, 1));
  marks.add(order(RecordKind::kTombstone, 20, 1, 1));  // the second copy
  marks.add(order(RecordKind::kInvalidation, 5, 2, 0));
  marks.add(order(RecordKind::kInvalidation, 2, 0, 0));
  marks.finish();
  EXPECT_EQ(marks.size(), 3U);
  EXPECT_TRUE(marks.voids(order(RecordKind::kBlock, 19, 1, 1)));
  EXPECT_FALSE(marks.voids(order(RecordKind::kBlock, 20, 1, 1)));
  EXPECT_FALSE(marks.voids(order(RecordKind::kBlock, 19, 1, 2)));
  EXPECT_TRUE(marks.voids(order(RecordKind::kBlock, 4, 2, 7)));
  EXPECT_FALSE(marks.voids(order(RecordKind::kBlock, 5, 2, 7)));
  EXPECT_TRUE(marks.voids(order(RecordKind::kBlock, 1, 3, 7)));
  EXPECT_FALSE(marks.voids(order(RecordKind::kBlock, 2, 3, 7)));
}

// What is on disk never keeps the store shut.
TEST(MarkSet, ARecoveryTakesAsManyAsThereAre) {
  MarkSet marks(2);
  for (std::uint64_t i = 1; i <= 50; ++i) marks.add(order(RecordKind::kTombstone, i, 1, i));
  marks.finish();
  EXPECT_EQ(marks.size(), 50U);
  EXPECT_FALSE(marks.admits(order(RecordKind::kTombstone, 99, 1, 77), 0));
}

TEST(MarkSet, OneOfASpaceStandsForItsKeysAndOneOfANamespaceForAll) {
  for (const bool is_recovered : {false, true}) {
    MarkSet marks(8, 2);
    if (!is_recovered) marks.finish();
    const auto take = [&](const RecordOrder& mark) { is_recovered ? marks.add(mark) : marks.insert(mark); };
    for (std::uint64_t i = 1; i <= 4; ++i) take(order(RecordKind::kTombstone, 10 + i, 1, i));
    take(order(RecordKind::kTombstone, 20, 2, 1));
    take(order(RecordKind::kInvalidation, 13, 1, 0));
    if (is_recovered) marks.finish();
    EXPECT_EQ(marks.size(), 3U) << "of the space, its one later key, the other space's key";
    EXPECT_TRUE(marks.is_covered(order(RecordKind::kTombstone, 12, 1, 2)));
    EXPECT_FALSE(marks.is_covered(order(RecordKind::kTombstone, 14, 1, 4)));
    EXPECT_TRUE(marks.voids(order(RecordKind::kBlock, 12, 1, 2)));
    EXPECT_TRUE(marks.voids(order(RecordKind::kBlock, 13, 1, 4)));
    EXPECT_FALSE(marks.voids(order(RecordKind::kBlock, 13, 1, 2)));
    take(order(RecordKind::kInvalidation, 30, 0, 0));
    if (is_recovered) marks.finish();
    EXPECT_EQ(marks.size(), 1U);
    EXPECT_TRUE(marks.voids(order(RecordKind::kBlock, 29, 7, 7)));
    EXPECT_FALSE(marks.is_covered(order(RecordKind::kInvalidation, 30, 0, 0))) << "not by itself";
  }
}

TEST(MarkSet, WhereThereIsNoRoomOneThatStandsForOthersIsTakenAllTheSame) {
  MarkSet marks(2, 1);
  marks.finish();
  marks.insert(order(RecordKind::kTombstone, 1, 1, 1));
  EXPECT_TRUE(marks.admits(order(RecordKind::kTombstone, 2, 1, 2), 0));
  EXPECT_FALSE(marks.admits(order(RecordKind::kTombstone, 2, 1, 2), 1)) << "one is on its way";
  marks.insert(order(RecordKind::kTombstone, 2, 1, 2));
  EXPECT_FALSE(marks.admits(order(RecordKind::kTombstone, 3, 1, 3), 0));
  EXPECT_TRUE(marks.admits(order(RecordKind::kTombstone, 3, 1, 2), 0)) << "in place of the earlier one";
  EXPECT_TRUE(marks.admits(order(RecordKind::kInvalidation, 3, 1, 0), 0));
  marks.remove(order(RecordKind::kTombstone, 2, 1, 2));
  EXPECT_TRUE(marks.admits(order(RecordKind::kTombstone, 3, 1, 3), 0));
}

TEST(OpenIndex, LeavesDroppedRecordsAndTheirScopesOut) {
  constexpr SegmentGeometry kGeometry{.segment_bytes = 1 << 20, .alignment = 4096};
  OpenIndex index;
  std::vector<DiskRecord> records(4);
  for (std::uint64_t i = 0; i < records.size(); ++i) {
    records[i].header.tenant = pattern_key(1, i);
    records[i].header.key = pattern_key(2, i);
  }
  EXPECT_EQ(index.footer_bytes_with(kGeometry, records), footer_bytes(kGeometry, 4, 4));
  for (const DiskRecord& record : records) index.add(record);
  index.drop(0);
  index.drop(2);
  index.compact();
  ASSERT_EQ(index.entries().size(), 2U);
  ASSERT_EQ(index.scopes().size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(index.entries()[i].key, pattern_key(2, 2 * i + 1));
    EXPECT_EQ(index.scopes()[index.entries()[i].scope].tenant, pattern_key(1, 2 * i + 1));
  }
}

}  // namespace
}  // namespace kvtier::test
