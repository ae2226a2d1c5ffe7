// The scrub: every copy on disk is looked at, what is bad is dropped, and nothing else waits for it.

#include <gtest/gtest.h>

#include "tests/support/sim_store.h"

namespace kvtier::test {
namespace {

class StoreVerifyTest : public testing::Test {
 protected:
  void open(std::uint32_t segments = 16, std::size_t paths = 1, std::uint64_t segment_bytes = 128 * kKiB) {
    sim_.reset();
    SimStoreOptions options = small_sim_options();
    options.store.block_bytes_max = options.slot_bytes = slot_bytes_;
    options.slots = 64;
    options.store.segment_bytes = segment_bytes;
    sim_ = std::make_unique<SimStore>(disk_, options, paths, kSegmentsOffset + segments * segment_bytes);
    ASSERT_TRUE(sim_->open()) << sim_->store().status().to_string();
    sim_->on_event = [this](const DiskEvent& event) {
      if (event.kind == DiskEventKind::kDropped) dropped_.push_back(event);
    };
  }
  void put(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = first; i < first + count; ++i) ASSERT_EQ(sim_->put_one(sim_key(i)), Code::kOk);
  }
  const VerifyReport& report() const { return sim_->store().verify_report(); }
  bool is_over() const { return report().tag == tag_ && report().state != VerifyState::kRunning; }
  VerifyReport verify() {
    sim_->store().verify(++tag_);
    EXPECT_TRUE(sim_->run([&] { return is_over(); }));
    return report();
  }
  std::byte& byte_of(std::uint64_t number, bool is_header) {
    const DiskLocator locator = sim_->find(sim_key(number)).value();
    const StorePath& path = sim_->store().path(locator.path());
    const std::uint64_t at = is_header ? locator.header_offset() : locator.payload_offset();
    return disk_.image(
        sim_->file(locator.path()))[segment_file_offset(path.geometry, locator.segment) + at + 77];
  }
  static std::uint64_t count(const VerifyReport& report, DiskFault fault) {
    return report.faults[static_cast<std::size_t>(fault)];
  }

  SimDisk disk_{1};
  std::unique_ptr<SimStore> sim_;
  std::vector<DiskEvent> dropped_;
  std::uint64_t tag_ = 0;
  std::uint32_t slot_bytes_ = 64 * kKiB;  ///< of the next life
};

// Ten of a hundred, in sealed segments and in the open one: these and no others, with their cause; they are gone, and
// the next scrub finds nothing.
TEST_F(StoreVerifyTest, FindsTheBadOnes_R06) {
  open(24, 2);
  put(0, 100);
  ASSERT_EQ(sim_->mark_now(sim_key(500)), Code::kOk);
  for (std::uint64_t i = 0; i < 10; ++i) byte_of(i * 10 + 1, i < 3) ^= std::byte{8};
  const VerifyReport first = verify();
  EXPECT_EQ(first.state, VerifyState::kDone);
  EXPECT_EQ(first.segments_done, first.segments);
  EXPECT_EQ(first.blocks_good, 90U);
  EXPECT_EQ(first.blocks_bad, 10U);
  EXPECT_GE(first.marks_good, 2U) << "a copy on each path";
  EXPECT_EQ(first.marks_bad + first.late + first.unreadable + first.segments_unindexed, 0U);
  EXPECT_EQ(count(first, DiskFault::kHeaderDamaged), 3U);
  EXPECT_EQ(count(first, DiskFault::kPayloadDamaged), 7U);
  EXPECT_GT(first.bytes, 100 * std::uint64_t{kSimBlockBytes});
  EXPECT_EQ(dropped_.size(), 10U);
  for (std::uint64_t i = 0; i < 100; ++i)
    EXPECT_EQ(sim_->read(sim_key(i)), i % 10 == 1 ? Code::kNotFound : Code::kOk) << i;
  EXPECT_EQ(sim_->wrong_bytes, 0U);
  EXPECT_EQ(verify().blocks_bad, 10U) << "the bytes on disk are what they were";
  EXPECT_EQ(dropped_.size(), 20U) << "told again; nobody names them";
}

TEST_F(StoreVerifyTest, AnEmptyStoreIsRight) {
  open();
  const VerifyReport report = verify();
  EXPECT_EQ(report.state, VerifyState::kDone);
  EXPECT_EQ(report.segments_done, 16U);
  EXPECT_EQ(report.blocks_good + report.blocks_bad + report.marks_good, 0U);
}

TEST_F(StoreVerifyTest, AfterAKillAndACleanEndTheSame) {
  open();
  put(0, 30);
  ASSERT_EQ(sim_->flush_now(), Code::kOk);
  open();  // as a kill leaves it
  EXPECT_EQ(verify().blocks_good, 30U);
  sim_->close();
  ASSERT_TRUE(sim_->settle());
  open();
  EXPECT_EQ(verify().blocks_good, 30U);
}

// A segment whose footer is damaged has no list of its blocks: said, and they can be read all the same.
TEST_F(StoreVerifyTest, ADamagedFooterIsSaid) {
  open();
  put(0, 30);
  const DiskLocator locator = sim_->find(sim_key(0)).value();
  const SegmentGeometry geometry = sim_->store().path(0).geometry;
  ASSERT_EQ(sim_->store().path(0).segments[locator.segment].state, SegmentState::kSealed);
  disk_.image(sim_->file(
      0))[segment_file_offset(geometry, locator.segment) + trailer_offset(geometry) + 90] ^= std::byte{1};
  const VerifyReport report = verify();
  EXPECT_EQ(report.segments_unindexed, 1U);
  EXPECT_EQ(count(report, DiskFault::kHeaderDamaged), 1U);
  EXPECT_LT(report.blocks_good, 30U);
  EXPECT_TRUE(dropped_.empty());
  EXPECT_EQ(sim_->read(sim_key(0)), Code::kOk);
}

TEST_F(StoreVerifyTest, CanBeStopped) {
  open(64);
  put(0, 200);
  sim_->store().verify(++tag_);
  ASSERT_TRUE(sim_->run([&] { return report().blocks_good > 0; }));
  sim_->store().stop_verify(tag_ + 1);
  EXPECT_EQ(report().state, VerifyState::kRunning) << "that is another's";
  sim_->store().stop_verify(tag_);
  ASSERT_TRUE(sim_->run([&] { return is_over(); }));
  EXPECT_EQ(report().state, VerifyState::kStopped);
  EXPECT_LT(report().blocks_good, 200U);
  EXPECT_EQ(verify().blocks_good, 200U) << "the next one begins at the front";
}

TEST_F(StoreVerifyTest, TheLastOneAskedForRuns) {
  open(64);
  put(0, 200);
  sim_->store().verify(++tag_);
  ASSERT_TRUE(sim_->run([&] { return report().blocks_good > 0; }));
  EXPECT_EQ(verify().blocks_good, 200U);
}

TEST_F(StoreVerifyTest, AStoreThatClosesStopsIt) {
  open(64);
  put(0, 200);
  sim_->store().verify(++tag_);
  ASSERT_TRUE(sim_->run([&] { return report().blocks_good > 0; }));
  sim_->close();
  ASSERT_TRUE(sim_->settle());
  EXPECT_EQ(sim_->last(DiskEventKind::kClosed)->code, Code::kOk);
  EXPECT_EQ(report().state, VerifyState::kStopped);
  sim_->store().verify(++tag_);
  EXPECT_EQ(report().state, VerifyState::kRefused);
}

// They share memory: neither spoils the other, and neither stands still. A segment is several batches long, so that
// reclaim comes in between.
TEST_F(StoreVerifyTest, GoesOnWhileSegmentsAreReclaimed) {
  open(6, 1, kMiB);
  put(0, 20);
  std::uint64_t scrubs = 0;
  sim_->store().verify(++tag_);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    ASSERT_EQ(sim_->put_one(sim_key(1000 + i % 7)), Code::kOk) << i;
    if (!is_over()) continue;
    ++scrubs;
    ASSERT_EQ(report().state, VerifyState::kDone);
    ASSERT_EQ(report().segments_done, report().segments);
    ASSERT_EQ(report().blocks_bad + report().marks_bad + report().late + report().segments_unindexed, 0U)
        << i;
    sim_->store().verify(++tag_);
  }
  EXPECT_GT(scrubs, 20U);
  EXPECT_GT(sim_->store().stats().segments_reclaimed, 15U);
  EXPECT_TRUE(dropped_.empty());
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(sim_->read(sim_key(i)), Code::kOk) << i;
}

// What could not be written is not there, although its place in the open segment is.
TEST_F(StoreVerifyTest, APutThatFailedIsNotLookedFor) {
  open();
  put(0, 3);
  sim_->faults().next({.fault = IoFault::kFail, .count = 2, .only = IoKind::kWrite});
  ASSERT_NE(sim_->put_one(sim_key(77)), Code::kOk);
  put(3, 3);
  const VerifyReport report = verify();
  EXPECT_EQ(report.blocks_good, 6U);
  EXPECT_EQ(report.blocks_bad, 0U);
}

TEST_F(StoreVerifyTest, AGroupOnItsWayIsNotThereYet) {
  open();
  put(0, 3);
  sim_->faults().next({.fault = IoFault::kStall, .count = 8, .only = IoKind::kWrite});
  const std::vector<DiskKey> keys = {sim_key(20), sim_key(21), sim_key(22)};
  ASSERT_EQ(sim_->put(keys), Code::kOk);
  ASSERT_TRUE(sim_->run([&] { return sim_->faults().stalled_count() > 0; }));
  const VerifyReport report = verify();
  EXPECT_EQ(report.blocks_good, 3U);
  EXPECT_EQ(report.blocks_bad, 0U);
  sim_->faults().thaw();
  ASSERT_TRUE(sim_->settle());
  EXPECT_TRUE(dropped_.empty());
}

TEST_F(StoreVerifyTest, WhatCannotBeReadIsBad) {
  open();
  put(0, 5);
  sim_->faults().next({.fault = IoFault::kFail, .only = IoKind::kRead});
  const VerifyReport report = verify();
  EXPECT_EQ(report.unreadable, 1U);
  EXPECT_EQ(report.blocks_bad, 1U);
  EXPECT_EQ(report.blocks_good, 4U);
  ASSERT_EQ(dropped_.size(), 1U);
  EXPECT_EQ(dropped_[0].code, Code::kSystem);
}

// After a start with smaller slabs some blocks fit into no slot: each is counted, and those beside them are looked at.
TEST_F(StoreVerifyTest, WhatIsLargerThanABlockMayBeNowIsSaidAndNotJudged) {
  slot_bytes_ = kMiB;
  open(16, 1, 4 * kMiB);
  for (std::uint64_t i = 0; i < 5; ++i) {
    ASSERT_EQ(sim_->put_one(sim_key(i), 600 << 10), Code::kOk);
    ASSERT_EQ(sim_->put_one(sim_key(10 + i)), Code::kOk);
  }
  ASSERT_EQ(sim_->mark_now(sim_key(500)), Code::kOk);
  EXPECT_EQ(verify().blocks_good, 10U);
  EXPECT_EQ(report().too_large, 0U);
  sim_->close();
  ASSERT_TRUE(sim_->settle());
  slot_bytes_ = kSimSlotBytes;
  open(16, 1, 4 * kMiB);
  byte_of(12, false) ^= std::byte{8};
  byte_of(3, false) ^= std::byte{8};  // of one that is too large: nobody reads it
  EXPECT_EQ(verify().state, VerifyState::kDone);
  EXPECT_EQ(report().too_large, 5U);
  EXPECT_EQ(report().blocks_good, 4U);
  EXPECT_EQ(report().blocks_bad, 1U);
  EXPECT_EQ(report().marks_good, 2U);
  ASSERT_EQ(dropped_.size(), 1U);
  EXPECT_EQ(dropped_[0].key, sim_key(12));
}

// A device that is late says nothing about what lies there.
TEST_F(StoreVerifyTest, WhatIsLateIsNotJudged) {
  open();
  put(0, 5);
  sim_->faults().next({.fault = IoFault::kStall, .count = 10, .only = IoKind::kRead});
  sim_->store().verify(++tag_);
  ASSERT_TRUE(sim_->run([&] { return sim_->store().stats().io_late > 0; }));
  sim_->faults().thaw();
  ASSERT_TRUE(sim_->run([&] { return is_over(); }));
  EXPECT_EQ(report().late, 5U);
  EXPECT_TRUE(dropped_.empty());
  EXPECT_TRUE(sim_->run([&] { return sim_->read(sim_key(3)) == Code::kOk; }));
}

}  // namespace
}  // namespace kvtier::test
