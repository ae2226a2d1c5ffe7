// 10,000 seeded mishaps of a disk. No wrong byte is accepted, each refusal has the right cause, and what was not
// touched is found and served. R-06, C-06, D-01, D-16 at the level of bytes.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>

#include "tests/unit/disk/faulty_segment.h"
#include "tests/unit/disk/segment_reader.h"

namespace kvtier {
namespace {

using test::DiskMishap;
using test::FaultySegment;
using test::ImageSet;
using test::Role;
using test::SegmentImage;

constexpr std::uint64_t kSeeds = 10'000;
constexpr std::uint64_t kShapes = 24;

const ImageSet& images_of(std::uint64_t seed) {
  static const std::vector<ImageSet> all = [] {
    std::vector<ImageSet> sets;
    for (std::uint64_t shape = 0; shape < kShapes; ++shape) sets.push_back(test::make_images(shape));
    return sets;
  }();
  return all[seed % kShapes];
}

/// One mishap, and half the time another one. A flip comes alone: of what it hits the oracle knows the origin.
FaultySegment harmed(const ImageSet& images, std::uint64_t seed) {
  Prng prng(seed);
  FaultySegment segment(images);
  const auto pick = [&](std::uint64_t first) {
    return static_cast<DiskMishap>(first + prng.below(test::kDiskMishaps - first));
  };
  const DiskMishap mishap = pick(0);
  segment.inflict(mishap, prng);
  const bool is_last = mishap <= DiskMishap::kFlipFooterBit || mishap >= DiskMishap::kOtherVersion;
  if (!is_last && prng.below(2) == 0) segment.inflict(DiskMishap::kTruncate, prng);
  return segment;
}

bool is_right(const SegmentImage& image, const DiskRecord& record, std::span<const std::byte> payload) {
  const std::span<const std::byte> written = image.payload(record);
  for (const RecordPart& part : record.used_parts()) {
    if (std::memcmp(payload.data() + part.offset, written.data() + part.offset, part.bytes) != 0)
      return false;
  }
  return true;
}

const DiskRecord* find(const SegmentImage& image, const Key& key) {
  for (const DiskRecord& record : image.records) {
    if (record.header.key == key) return &record;
  }
  return nullptr;
}

class DiskFaults : public testing::Test {
 protected:
  /// A reader with an index in memory: every block of this use.
  void check_reader(const ImageSet& images, const FaultySegment& segment) {
    for (const DiskRecord& record : images.now.records) {
      const DiskVerdict due = segment.expected_verdict(record);
      DiskRecord out;
      const DiskVerdict got = test::read_record(images.now.segment, segment.bytes(), expect(record), out);
      ASSERT_EQ(disk_fault_name(got.fault), disk_fault_name(due.fault)) << "offset " << record.header.offset;
      ++counts_[static_cast<std::size_t>(got.fault)];
      if (got.fault == DiskFault::kPayloadDamaged) {
        ASSERT_EQ(got.part, due.part);
        ASSERT_EQ(got.sum, due.sum);
      }
      if (got.is_ok()) {
        const std::span<const std::byte> payload =
            test::clip(segment.bytes(), record.header.payload_offset, record.header.payload_bytes);
        ASSERT_TRUE(is_right(images.now, record, payload));
      }
    }
  }

  /// A start that knows nothing but the place.
  void check_recovery(const ImageSet& images, const FaultySegment& segment) {
    SegmentContext place = images.now.segment;
    place.identity.generation = place.identity.epoch = 0;
    const test::RecoveredSegment recovered = test::recover_segment(place, segment.bytes());
    ++choices_[recovered.plan.choice];
    check_choice(images, segment, recovered.plan);
    const bool is_now = recovered.plan.identity == images.now.segment.identity;
    const SegmentImage& owner = is_now ? images.now : images.old;
    const std::size_t found = count_right(owner, segment, recovered);
    if (!is_now) return;
    std::size_t unharmed = 0;
    for (const DiskRecord& record : images.now.records)
      unharmed += segment.expected_verdict(record).is_ok() ? 1 : 0;
    ASSERT_EQ(found, unharmed);
  }

  static void check_choice(const ImageSet& images, const FaultySegment& segment, const RecoveryPlan& plan) {
    const std::uint64_t size = kSegmentBytes;
    const bool has_header = segment.is_unharmed(0, kSectorBytes);
    const bool has_footer = images.now.is_sealed && segment.is_unharmed(images.now.data_end, size);
    ASSERT_TRUE(plan.identity == images.now.segment.identity || !(has_header || has_footer));
    ASSERT_TRUE(plan.choice == RecoveryChoice::kFooter || !has_footer);
    const bool is_kept = plan.choice == RecoveryChoice::kFooter || plan.choice == RecoveryChoice::kScan;
    ASSERT_TRUE(!is_kept || plan.identity == images.now.segment.identity ||
                plan.identity == images.old.segment.identity);
  }

  /// Everything that verifies is a block of that use, with its own bytes, once.
  static std::size_t count_right(const SegmentImage& owner, const FaultySegment& segment,
                                 const test::RecoveredSegment& recovered) {
    std::map<std::uint64_t, int> seen;
    for (const ExpectedRecord& expected : recovered.records) {
      DiskRecord out;
      if (!test::read_record(owner.segment, segment.bytes(), expected, out).is_ok()) continue;
      const DiskRecord* record = find(owner, expected.key);
      EXPECT_NE(record, nullptr);
      if (record == nullptr) continue;
      EXPECT_TRUE(is_right(owner, *record,
                           test::clip(segment.bytes(), expected.payload_offset, expected.payload_bytes)));
      EXPECT_EQ(++seen[expected.sequence], 1);
    }
    return seen.size();
  }

  static constexpr std::uint64_t kSegmentBytes = test::kImageGeometry.segment_bytes;
  std::array<std::uint64_t, kDiskFaultCount> counts_{};
  std::map<RecoveryChoice, std::uint64_t> choices_;
};

TEST_F(DiskFaults, NothingHappened) {
  for (std::uint64_t shape = 0; shape < kShapes; ++shape) {
    const FaultySegment segment(images_of(shape));
    check_reader(images_of(shape), segment);
    check_recovery(images_of(shape), segment);
  }
  EXPECT_GT(counts_[0], kShapes * 3);
  for (std::size_t i = 1; i < counts_.size(); ++i) EXPECT_EQ(counts_[i], 0U) << i;
}

TEST_F(DiskFaults, NoWrongByteIsAcceptedAndEachRefusalHasItsCause) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ImageSet& images = images_of(seed);
    const FaultySegment segment = harmed(images, seed);
    check_reader(images, segment);
    check_recovery(images, segment);
    if (HasFailure()) return;
  }
  const std::array<DiskFault, 10> causes = {
      DiskFault::kNone,          DiskFault::kTruncated,     DiskFault::kEmpty,     DiskFault::kForeign,
      DiskFault::kHeaderDamaged, DiskFault::kOtherStore,    DiskFault::kMisplaced, DiskFault::kStale,
      DiskFault::kVersion,       DiskFault::kPayloadDamaged};
  for (const DiskFault cause : causes) {
    EXPECT_GT(counts_[static_cast<std::size_t>(cause)], 100U) << disk_fault_name(cause);
    RecordProperty(std::string(disk_fault_name(cause)),
                   std::to_string(counts_[static_cast<std::size_t>(cause)]));
  }
  for (const RecoveryChoice choice :
       {RecoveryChoice::kFooter, RecoveryChoice::kScan, RecoveryChoice::kDrop}) {
    EXPECT_GT(choices_[choice], 20U) << static_cast<int>(choice);
  }
}

}  // namespace
}  // namespace kvtier
