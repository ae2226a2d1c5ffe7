// A device that does not give all when a store opens: nothing that was flushed is destroyed for it, and nothing that was
// invalidated comes back.

#include <gtest/gtest.h>

#include "tests/support/sim_store.h"

namespace kvtier::test {
namespace {

constexpr std::uint64_t kBlocks = 30;
constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

class StoreUnread : public testing::Test {
 protected:
  /// Reads that touch these bytes of the file fail; as many as the file has: none.
  void open(std::uint64_t begin = kNowhere, std::uint64_t end = kNowhere) {
    sim_.reset();
    sim_ = std::make_unique<SimStore>(disk_, small_sim_options(), 1, kSegmentsOffset + 16 * kSegment);
    sim_->faults().sometimes({.only = IoKind::kRead, .begin = begin, .end = end}, 1);
    ASSERT_TRUE(sim_->open()) << sim_->store().status().to_string();
    ASSERT_TRUE(sim_->run([&] { return sim_->store().path_state(0) == PathState::kOk; }));
  }
  void put_all(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = first; i < first + count; ++i) ASSERT_EQ(sim_->put_one(sim_key(i)), Code::kOk);
    ASSERT_EQ(sim_->flush_now(), Code::kOk);
  }
  /// One key again and again: all segments but those that live are reclaimed, a few times.
  void churn() {
    const std::uint64_t before = stats().segments_reclaimed;
    for (int i = 0; i < 200; ++i) ASSERT_EQ(sim_->put_one(sim_key(1000)), Code::kOk) << i;
    ASSERT_EQ(sim_->flush_now(), Code::kOk);
    EXPECT_GT(stats().segments_reclaimed, before + 10);
  }
  /// Where the segment of this block begins in the file.
  std::uint64_t segment_of(std::uint64_t number) {
    return kSegmentsOffset + sim_->find(sim_key(number)).value().segment * kSegment;
  }
  std::uint64_t header_of(std::uint64_t number) {
    return segment_of(number) + sim_->find(sim_key(number)).value().header_offset();
  }
  std::uint64_t payload_of(std::uint64_t number) {
    return segment_of(number) + sim_->find(sim_key(number)).value().payload_offset();
  }
  /// Of those that were put first: how many are read, byte for byte.
  std::size_t count_right() {
    std::size_t right = 0;
    for (std::uint64_t i = 0; i < kBlocks; ++i) right += sim_->read(sim_key(i)) == Code::kOk ? 1 : 0;
    EXPECT_EQ(sim_->wrong_bytes, 0U);
    return right;
  }
  const DiskStats& stats() const { return sim_->store().stats(); }

  static constexpr std::uint64_t kSegment = 128 * kKiB;
  SimDisk disk_{1};
  std::unique_ptr<SimStore> sim_;
};

// The last block is in the open segment, which the start scans. It was sealed over without what could not be read.
TEST_F(StoreUnread, WhatOneStartCannotReadTheNextOneHas) {
  for (const bool is_header : {true, false}) {
    disk_ = SimDisk(1);
    open();
    put_all(0, kBlocks);
    const std::uint64_t at = is_header ? header_of(kBlocks - 1) : payload_of(kBlocks - 1);
    open(at, at + 1);
    EXPECT_EQ(stats().recovered_unread, 1U);
    EXPECT_EQ(stats().recovered_withheld, 0U) << "no mark is in one unit alone";
    EXPECT_FALSE(sim_->find(sim_key(kBlocks - 1)).has_value());
    EXPECT_EQ(count_right(), kBlocks - 1);
    churn();
    open();
    EXPECT_EQ(stats().recovered_unread, 0U);
    EXPECT_EQ(count_right(), kBlocks) << is_header;
  }
}

// Nothing of the open segment can be read but its header: it was taken for empty, and erased.
TEST_F(StoreUnread, ASegmentOfWhichNothingIsReadIsNotVoid) {
  open();
  put_all(0, kBlocks);
  const std::uint64_t begin = segment_of(kBlocks - 1);
  open(begin + kAlignmentMin, begin + kSegment - kAlignmentMin);
  EXPECT_EQ(stats().recovered_unread, 1U);
  churn();
  open();
  EXPECT_EQ(count_right(), kBlocks);
}

TEST_F(StoreUnread, ASegmentWhoseHeaderIsUnreadIsLeftAlone) {
  open();
  put_all(0, kBlocks);
  const std::uint64_t begin = segment_of(kBlocks - 1);
  open(begin, begin + 1);
  EXPECT_EQ(stats().recovered_unread, 1U);
  EXPECT_FALSE(sim_->find(sim_key(kBlocks - 1)).has_value());
  churn();
  open();
  EXPECT_EQ(count_right(), kBlocks);
}

// Both copies of the mark lie where nothing is read: whatever it may void is withheld until it is known.
TEST_F(StoreUnread, WhatAnUnreadMarkMayVoidIsNotServedInThatStartNorAfter) {
  for (const bool is_header : {false, true}) {
    disk_ = SimDisk(1);
    open();
    put_all(0, kBlocks);
    const std::uint64_t segment = segment_of(kBlocks - 1);
    const std::uint64_t marks = payload_of(kBlocks - 1) + 3 * kAlignmentMin;
    ASSERT_EQ(sim_->mark_now(sim_key(3)), Code::kOk);
    ASSERT_LE(marks + 2 * kAlignmentMin, segment + kSegment) << "the marks are behind the last block";
    const std::uint64_t begin = is_header ? segment : marks;
    const std::uint64_t end = is_header ? segment + 1 : marks + 2 * kAlignmentMin;
    for (int life = 0; life < (is_header ? 1 : 2); ++life) {
      open(begin, end);
      EXPECT_EQ(stats().recovered_unread, 1U);
      EXPECT_GE(stats().recovered_withheld, kBlocks / 2);
      EXPECT_EQ(count_right(), 0U) << "nobody knows what was invalidated";
      EXPECT_EQ(sim_->find(sim_key(1000)).has_value(), life > 0) << "what was put since is served";
      churn();
    }
    open();
    EXPECT_EQ(stats().recovered_withheld, 0U);
    EXPECT_FALSE(sim_->find(sim_key(3)).has_value()) << is_header;
    EXPECT_EQ(count_right(), kBlocks - 1) << is_header;
  }
}

// One copy is enough.
TEST_F(StoreUnread, AMarkOfWhichOneCopyIsReadCounts) {
  open();
  put_all(0, kBlocks);
  const std::uint64_t marks = payload_of(kBlocks - 1) + 3 * kAlignmentMin;
  ASSERT_EQ(sim_->mark_now(sim_key(3)), Code::kOk);
  open(marks, marks + 1);
  EXPECT_EQ(stats().recovered_unread, 1U);
  EXPECT_EQ(count_right(), kBlocks - 1);
  churn();
  open();
  EXPECT_FALSE(sim_->find(sim_key(3)).has_value());
  EXPECT_EQ(count_right(), kBlocks - 1);
}

}  // namespace
}  // namespace kvtier::test
