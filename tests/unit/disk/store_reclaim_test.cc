// Reclaim: what lives stays, what is dead goes, and a full disk takes new blocks.

#include <gtest/gtest.h>

#include "tests/support/sim_store.h"

namespace kvtier::test {
namespace {

class StoreReclaimTest : public testing::Test {
 protected:
  void open(const SimStoreOptions& options, std::uint32_t segments = 10, std::size_t paths = 1) {
    sim_.reset();
    sim_ = std::make_unique<SimStore>(disk_, options, paths, kSegmentsOffset + segments * 128 * kKiB);
    ASSERT_TRUE(sim_->open()) << sim_->store().status().to_string();
  }
  std::size_t count_right(std::uint64_t first, std::uint64_t count) {
    std::size_t right = 0;
    for (std::uint64_t i = 0; i < count; ++i) right += sim_->read(sim_key(first + i)) == Code::kOk ? 1 : 0;
    return right;
  }
  const DiskStats& stats() const { return sim_->store().stats(); }

  SimDisk disk_{1};
  std::unique_ptr<SimStore> sim_;
};

// A hot key put again and again among cold ones: no cold one is lost, no old copy of the hot one is rescued. Then the
// same over a kill.
TEST_F(StoreReclaimTest, AHotKeyAmongColdOnes_D16) {
  open(small_sim_options());
  for (std::uint64_t i = 0; i < 20; ++i) ASSERT_EQ(sim_->put_one(sim_key(i)), Code::kOk);
  std::uint64_t newest = 0;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 400; ++i) {
      ASSERT_EQ(sim_->put_one(sim_key(1000)), Code::kOk) << i;
      const std::uint64_t sequence = sim_->find(sim_key(1000))->sequence;
      EXPECT_GT(sequence, newest);
      newest = sequence;
    }
    EXPECT_EQ(count_right(0, 20), 20U);
    EXPECT_EQ(sim_->index().size(), 21U);
    EXPECT_EQ(stats().blocks_dropped, 0U);
    EXPECT_GT(stats().segments_reclaimed, 30U);
    EXPECT_GT(stats().blocks_dead, 300U);
    ASSERT_EQ(sim_->flush_now(), Code::kOk);
    open(small_sim_options());  // as a kill leaves it
    EXPECT_EQ(sim_->index().size(), 21U);
    EXPECT_GE(sim_->find(sim_key(1000))->sequence, newest) << "moved, or where it was";
  }
  EXPECT_EQ(sim_->wrong_bytes, 0U);
}

TEST_F(StoreReclaimTest, AFullDiskTakesNewBlocksForOldOnes_D11_R04) {
  open(small_sim_options());
  std::uint64_t dropped = 0;
  sim_->on_event = [&](const DiskEvent& event) { dropped += event.kind == DiskEventKind::kDropped ? 1 : 0; };
  for (std::uint64_t i = 0; i < 300; ++i) ASSERT_EQ(sim_->put_one(sim_key(i)), Code::kOk) << i;
  EXPECT_EQ(stats().puts_failed, 0U);
  EXPECT_GT(dropped, 0U) << "the owner wished to keep all: half a segment is, so that reclaim gains";
  EXPECT_GT(stats().blocks_moved, 0U);
  EXPECT_EQ(sim_->read(sim_key(299)), Code::kOk);
  EXPECT_EQ(count_right(0, 300), sim_->index().size());
  EXPECT_GT(sim_->index().size(), 30U);
  EXPECT_GT(stats().write_amplification(), 1.0);
  EXPECT_LT(stats().write_amplification(), 4.0) << "alone, such a block takes 16 KiB of segment";
}

TEST_F(StoreReclaimTest, ColdBlocksAreDroppedByTheOwnersWord) {
  open(small_sim_options());
  sim_->on_question = [](const ReclaimQuestion&) { return ReclaimAnswer::kDrop; };
  for (std::uint64_t i = 0; i < 200; ++i) ASSERT_EQ(sim_->put_one(sim_key(i)), Code::kOk);
  EXPECT_EQ(stats().blocks_moved, 0U);
  EXPECT_EQ(stats().bytes_written[static_cast<std::size_t>(WriteCause::kMoves)], 0U);
  EXPECT_EQ(count_right(0, 200), sim_->index().size());
}

TEST_F(StoreReclaimTest, TheBudgetOfADayEndsTheRewriting) {
  SimStoreOptions options = small_sim_options();
  options.store.budget = {.bytes_per_day = 1000, .burst_bytes = 10 * 16 * kKiB};
  open(options);
  for (std::uint64_t i = 0; i < 300; ++i) ASSERT_EQ(sim_->put_one(sim_key(i)), Code::kOk);
  EXPECT_EQ(stats().blocks_moved, 10U) << "header page and payload of each are 16 KiB";
  EXPECT_GT(stats().blocks_dropped, 50U);
}

TEST_F(StoreReclaimTest, ADamagedBlockIsNotMoved_R06) {
  open(small_sim_options());
  ASSERT_EQ(sim_->put_one(sim_key(2)), Code::kOk);
  const DiskLocator locator = sim_->find(sim_key(2)).value();
  const std::uint64_t offset = segment_file_offset(sim_->store().path(0).geometry, locator.segment);
  disk_.image(sim_->file(0))[offset + locator.payload_offset() + 77] ^= std::byte{4};
  std::uint64_t dropped = 0;
  sim_->on_event = [&](const DiskEvent& event) {
    dropped += event.kind == DiskEventKind::kDropped && event.key == sim_key(2) ? 1 : 0;
  };
  for (std::uint64_t i = 0; i < 200; ++i)
    ASSERT_EQ(sim_->put_one(sim_key(i % 4 == 0 ? 500 + i : 1000)), Code::kOk);
  EXPECT_EQ(dropped, 1U);
  EXPECT_EQ(stats().faults[static_cast<std::size_t>(DiskFault::kPayloadDamaged)], 1U);
  EXPECT_EQ(sim_->read(sim_key(2)), Code::kNotFound);
}

TEST_F(StoreReclaimTest, MarksLastAsLongAsWhatTheyVoid) {
  open(small_sim_options(), 10, 2);
  for (std::uint64_t i = 0; i < 20; ++i) ASSERT_EQ(sim_->put_one(sim_key(i)), Code::kOk);
  ASSERT_EQ(sim_->mark_now(sim_key(3)), Code::kOk);
  DiskKey space = sim_key(0, 5);
  ASSERT_EQ(sim_->put_one(space), Code::kOk);
  space.key = {};
  ASSERT_EQ(sim_->mark_now(space), Code::kOk);
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < 60; ++i) ASSERT_EQ(sim_->put_one(sim_key(1000 + i % 3)), Code::kOk);
    ASSERT_EQ(sim_->flush_now(), Code::kOk);
    open(small_sim_options(), 10, 2);
    EXPECT_FALSE(sim_->find(sim_key(3)).has_value()) << round;
    EXPECT_FALSE(sim_->find(sim_key(0, 5)).has_value()) << round;
    EXPECT_TRUE(sim_->find(sim_key(1)).has_value()) << round;
  }
  EXPECT_EQ(sim_->put_one(sim_key(3)), Code::kOk);
  ASSERT_EQ(sim_->flush_now(), Code::kOk);
  open(small_sim_options(), 10, 2);
  EXPECT_TRUE(sim_->find(sim_key(3)).has_value()) << "born after the mark";
}

// Either copy of a mark may rot: the other one holds.
TEST_F(StoreReclaimTest, AMarkThatRotsResurrectsNothing) {
  for (const bool is_sealed : {false, true}) {
    for (std::uint64_t copy = 0; copy < 2; ++copy) {
      disk_ = SimDisk(1);
      open(small_sim_options());
      for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(sim_->put_one(sim_key(i)), Code::kOk);
      ASSERT_EQ(sim_->mark_now(sim_key(3)), Code::kOk);
      if (is_sealed) {
        sim_->close();
        ASSERT_TRUE(sim_->settle());
      }
      // The two marks are the last groups of the only segment: units from the first zero one back.
      std::vector<std::byte>& image = disk_.image(sim_->file(0));
      const std::uint64_t marks_end =
          kSegmentsOffset + kAlignmentMin + 4 * std::uint64_t{4 * kAlignmentMin} + 2 * kAlignmentMin;
      image[marks_end - (copy + 1) * kAlignmentMin + 200] ^= std::byte{1};
      open(small_sim_options());
      EXPECT_FALSE(sim_->find(sim_key(3)).has_value()) << is_sealed << " " << copy;
      EXPECT_EQ(sim_->index().size(), 3U);
      EXPECT_EQ(stats().faults[static_cast<std::size_t>(DiskFault::kHeaderDamaged)], is_sealed ? 0U : 1U);
    }
  }
}

TEST_F(StoreReclaimTest, MarksHaveALimitAndSaySo) {
  SimStoreOptions options = small_sim_options();
  options.store.marks_max = 8;
  open(options, 40);
  for (std::uint64_t i = 0; i < 8; ++i) EXPECT_EQ(sim_->mark_now(sim_key(i)), Code::kOk);
  EXPECT_EQ(sim_->mark(sim_key(9)), Code::kNoSpace);
  // Again and again of one thing, or of what is around the others, goes on for ever, and over a restart.
  for (int i = 0; i < 40; ++i) EXPECT_EQ(sim_->mark_now(sim_key(7)), Code::kOk);
  DiskKey space = sim_key(1);
  space.key = {};
  for (int i = 0; i < 40; ++i) EXPECT_EQ(sim_->mark_now(space), Code::kOk);
  EXPECT_EQ(sim_->mark_now(sim_key(9)), Code::kOk) << "there is room again";
  options.store.marks_max = 1;
  open(options, 40);
  EXPECT_EQ(sim_->mark_now(space), Code::kOk) << "and the store opens";
}

// Nothing can be reclaimed where no segment has an index: the path says so and is read. There is room as soon as all of a
// segment is dead, and at the next start, which scans them.
class StoreWithoutIndexes : public StoreReclaimTest {
 protected:
  static constexpr std::uint32_t kSegments = 10;
  void SetUp() override {
    open(small_sim_options(), kSegments);
    ASSERT_EQ(sim_->mark_now(sim_key(5000)), Code::kOk);  // in the first one
    for (; !is_full() && keys_ < 500; ++keys_) {
      ASSERT_EQ(sim_->put(std::array{sim_key(keys_)}), Code::kOk);
      ASSERT_TRUE(sim_->run(
          [&] { return damage_footers(), is_full() || sim_->slots_free() == small_sim_options().slots; }));
    }
    ASSERT_TRUE(is_full());
    ASSERT_TRUE(sim_->settle());
    ASSERT_TRUE(is_full());
    stored_ = sim_->index().size();
  }
  bool is_full() { return sim_->store().path_state(0) == PathState::kFull; }
  void damage_footers() {
    const SegmentGeometry& geometry = sim_->store().path(0).geometry;
    for (std::uint32_t i = 0; i < kSegments; ++i) {
      const std::uint64_t at = segment_file_offset(geometry, i) + trailer_offset(geometry);
      if (sim_->store().path(0).segments[i].state == SegmentState::kSealed)
        disk_.image(sim_->file(0))[at + 90] = std::byte{0xff};
    }
  }
  std::uint64_t evict_all_of(std::uint32_t segment) {
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < keys_; ++i) {
      const std::optional<DiskLocator> locator = sim_->find(sim_key(i));
      if (!locator.has_value() || locator->segment != segment) continue;
      sim_->evict(sim_key(i));
      ++count;
    }
    return count;
  }
  bool has_room() {
    return sim_->run([&] { return !is_full(); }, 2000);
  }

  std::uint64_t keys_ = 0;
  std::uint64_t stored_ = 0;  ///< of them
};

TEST_F(StoreWithoutIndexes, AFullPathIsReadAndTakesBlocksWhenASegmentIsDead_D11) {
  EXPECT_EQ(sim_->put_one(sim_key(900)), Code::kNoSpace);
  EXPECT_EQ(count_right(0, keys_), stored_);
  std::uint64_t gone = evict_all_of(sim_->find(sim_key(0))->segment);
  EXPECT_FALSE(has_room()) << "a mark is there, and nobody knows what it voids";
  gone += evict_all_of(sim_->find(sim_key(20))->segment);
  EXPECT_TRUE(has_room());
  EXPECT_EQ(sim_->put_one(sim_key(900)), Code::kOk);
  EXPECT_EQ(sim_->read(sim_key(900)), Code::kOk);
  EXPECT_EQ(count_right(0, keys_), stored_ - gone);
  EXPECT_EQ(sim_->wrong_bytes, 0U);
}

TEST_F(StoreWithoutIndexes, AStartMakesNewOnesAndLosesNothing_D11) {
  ASSERT_EQ(sim_->flush_now(), Code::kOk);
  open(small_sim_options(), kSegments);  // as a kill leaves it
  EXPECT_EQ(sim_->index().size(), stored_);
  std::size_t right = 0;
  for (std::uint64_t i = 0; i < keys_; ++i) {
    const Code code = sim_->read(sim_key(i));
    EXPECT_TRUE(code == Code::kOk || code == Code::kNotFound) << "reclaim goes on meanwhile";
    right += code == Code::kOk ? 1 : 0;
  }
  EXPECT_GT(right, stored_ / 2);
  for (std::uint64_t i = 900; i < 1000; ++i) ASSERT_EQ(sim_->put_one(sim_key(i)), Code::kOk) << i;
  EXPECT_FALSE(is_full());
}

// A newer copy makes an older one dead before a flush does: no segment is erased before that one.
TEST_F(StoreWithoutIndexes, WhatIsErasedIsDeadOnDiskToo) {
  const std::uint32_t segment = sim_->find(sim_key(20))->segment;
  const std::uint64_t at = segment_file_offset(sim_->store().path(0).geometry, segment);
  const auto is_erased = [&] { return disk_.image(sim_->file(0))[at] == std::byte{}; };
  sim_->faults().next({.fault = IoFault::kStall, .count = 1, .only = IoKind::kSync});
  (void)evict_all_of(segment);
  ASSERT_TRUE(sim_->run([&] { return sim_->faults().stalled_count() > 0; }));
  for (int i = 0; i < 200; ++i) sim_->step();
  EXPECT_FALSE(is_erased());
  sim_->faults().thaw();
  EXPECT_TRUE(sim_->run([&] { return is_erased(); }));
}

TEST_F(StoreReclaimTest, ReadsOfABlockThatMovesFindItOrAreStale_D16) {
  open(small_sim_options());
  for (std::uint64_t i = 0; i < 20; ++i) ASSERT_EQ(sim_->put_one(sim_key(i)), Code::kOk);
  for (std::uint64_t i = 0; i < 300; ++i) {
    // Reads are begun at any moment of the moves.
    ASSERT_EQ(sim_->put(std::array{sim_key(1000 + i % 2)}), Code::kOk);
    (void)sim_->get(sim_key(i % 20));
    for (std::uint64_t round = 0; round < i % 7; ++round) sim_->step();
    ASSERT_TRUE(sim_->slots_free() >= 50 || sim_->settle());
  }
  ASSERT_TRUE(sim_->settle());
  EXPECT_EQ(sim_->wrong_bytes, 0U);
  EXPECT_EQ(stats().gets_ok + stats().gets_stale, stats().gets);
  EXPECT_GT(stats().segments_reclaimed, 20U);
  EXPECT_EQ(count_right(0, 20), 20U);
}

// What is dead on one path may be so for a newer copy on another, which only that path's sync makes durable.
TEST_F(StoreReclaimTest, NothingIsErasedBeforeAllPathsAreSynced) {
  open(small_sim_options(), 10, 2);
  const auto moved_syncs = [&] { return stats().syncs[static_cast<std::size_t>(SyncCause::kMoved)]; };
  for (std::uint64_t i = 0; i < 300 && stats().segments_reclaimed == 0; ++i) {
    ASSERT_EQ(sim_->put_one(sim_key(1000)), Code::kOk);
    EXPECT_EQ(moved_syncs() % 2, 0U) << "one of each path";
  }
  EXPECT_GT(stats().segments_reclaimed, 0U);
  EXPECT_GE(moved_syncs(), 2 * stats().segments_reclaimed);
}

// It voids what lies on the path that is away, which nobody has seen.
TEST_F(StoreReclaimTest, AMarkStaysForAPathThatIsMissing) {
  open(small_sim_options(), 10, 2);
  for (std::uint64_t i = 0; i < 40; ++i) ASSERT_EQ(sim_->put_one(sim_key(i)), Code::kOk);
  ASSERT_EQ(sim_->flush_now(), Code::kOk);
  open(small_sim_options(), 10, 1);
  ASSERT_TRUE(sim_->store().is_path_missing());
  std::uint64_t away = 0;
  while (away < 40 && sim_->find(sim_key(away)).has_value()) ++away;
  ASSERT_LT(away, 40U);
  for (std::uint64_t i = 0; i < 40; ++i) sim_->evict(sim_key(i));  // nothing older is left here
  ASSERT_EQ(sim_->mark_now(sim_key(away)), Code::kOk);
  for (int i = 0; i < 300; ++i) ASSERT_EQ(sim_->put_one(sim_key(1000)), Code::kOk);
  EXPECT_GT(stats().segments_reclaimed, 20U);
  ASSERT_EQ(sim_->flush_now(), Code::kOk);
  open(small_sim_options(), 10, 2);
  EXPECT_FALSE(sim_->find(sim_key(away)).has_value());
}

TEST_F(StoreReclaimTest, NothingIsErasedUnderARead) {
  open(small_sim_options());
  ASSERT_EQ(sim_->put_one(sim_key(1)), Code::kOk);
  const std::uint32_t segment = sim_->find(sim_key(1))->segment;
  const std::uint64_t begin = segment_file_offset(sim_->store().path(0).geometry, segment);
  sim_->faults().next({.fault = IoFault::kStall, .count = 1, .only = IoKind::kRead});
  ASSERT_EQ(sim_->get(sim_key(1)), Code::kOk);
  ASSERT_TRUE(sim_->run([&] { return sim_->faults().stalled_count() > 0; }));
  sim_->evict(sim_key(1));  // all of it will be dead
  const auto is_erasing = [&] {
    return sim_->store().path(0).segments[segment].state == SegmentState::kErasing;
  };
  for (std::uint64_t i = 0; i < 100 && !is_erasing(); ++i) {
    sim_->events.clear();
    ASSERT_EQ(sim_->put(std::array{sim_key(1000)}), Code::kOk);
    ASSERT_TRUE(sim_->run([&] { return sim_->last(DiskEventKind::kPut) != nullptr; }));
  }
  ASSERT_TRUE(is_erasing());
  for (int round = 0; round < 100; ++round) {
    ASSERT_EQ(sim_->last(DiskEventKind::kGet), nullptr) << "it is not late yet";
    (void)sim_->store().do_work(sim_->clock().now_ns());
    sim_->clock().advance(kNsPerMs);
  }
  EXPECT_TRUE(is_erasing()) << "it waits for the device";
  EXPECT_NE(disk_.image(sim_->file(0))[begin], std::byte{0}) << "and its header is there";
  sim_->faults().thaw();
  EXPECT_TRUE(sim_->run([&] { return stats().segments_reclaimed > 0; }));
  ASSERT_TRUE(sim_->settle());
}

}  // namespace
}  // namespace kvtier::test
