#include "daemon/disk/format_group.h"

#include <gtest/gtest.h>

#include "daemon/disk/format_scan.h"
#include "tests/unit/disk/example_store.h"

namespace kvtier {
namespace {

Spec spec_of_bytes(std::uint64_t bytes, std::uint32_t layers) {
  Spec spec = test::example_spec();
  spec.parts = {{"kv", bytes, 0, layers, 1, 64, "f16", "flat"}};
  return spec;
}

std::vector<DiskRecord> blocks(std::size_t count, const Spec& spec) {
  std::vector<DiskRecord> records(count, test::example_store().records[0]);
  for (DiskRecord& record : records) EXPECT_TRUE(plan_raw_parts(spec, record).is_ok());
  return records;
}

constexpr SegmentGeometry kGeometry{.segment_bytes = 1 << 26, .alignment = 4096};

// The table of FORMAT.md, "Why groups".
TEST(DiskGroup, SmallBlocksShareHeaderPages) {
  EXPECT_EQ(group_bytes(kGeometry, blocks(1, spec_of_bytes(4096, 32))), 8192U);
  EXPECT_EQ(group_bytes(kGeometry, blocks(8, spec_of_bytes(4096, 32))), 9U * 4096);
  EXPECT_EQ(group_bytes(kGeometry, blocks(64, spec_of_bytes(4096, 32))), 72U * 4096);
  EXPECT_EQ(group_bytes(kGeometry, blocks(1, spec_of_bytes(65536, 16))), 65536U + 4096);
  EXPECT_EQ(group_bytes(kGeometry, blocks(4, spec_of_bytes(65536, 16))), 4 * 65536U + 4096);
  EXPECT_EQ(group_bytes(kGeometry, blocks(1, spec_of_bytes(2 << 20, 64))), (2U << 20) + 4096);
  EXPECT_EQ(group_bytes(kGeometry, blocks(8, spec_of_bytes(2 << 20, 64))), 8 * (2U << 20) + 3 * 4096);
}

TEST(DiskGroup, PayloadsOfAPrefixLieSideBySide) {
  const test::ExampleStore store = test::example_store();
  std::vector<DiskRecord> records = blocks(3, spec_of_bytes(5000, 1));
  const Result<std::uint64_t> end = place_group(store.segment, 8192, 61440, records);
  ASSERT_TRUE(end.is_ok());
  EXPECT_EQ(end.value(), 8192U + 4096 + 3 * 8192);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(records[i].header.offset, 8192U + i * 512);
    EXPECT_EQ(records[i].header.payload_offset, 12288U + i * 8192);
    EXPECT_EQ(records[i].header.group_index, i);
    EXPECT_EQ(records[i].header.group_bytes, end.value() - 8192);
    EXPECT_FALSE(is_record_malformed(store.segment, records[i]));
  }
}

TEST(DiskGroup, WhatDoesNotFitLeavesTheRecordsAsTheyWere) {
  const test::ExampleStore store = test::example_store();
  std::vector<DiskRecord> records = blocks(2, spec_of_bytes(4096, 1));
  EXPECT_TRUE(place_group(store.segment, 8192, 8192 + 3 * 4096, records).is_ok());
  records[0].header.offset = 77;
  EXPECT_EQ(place_group(store.segment, 8192, 8192 + 3 * 4096 - 1, records).code(), Code::kNoSpace);
  EXPECT_EQ(place_group(store.segment, 16384, 8192, records).code(), Code::kNoSpace);
  EXPECT_EQ(records[0].header.offset, 77U);
}

TEST(DiskGroup, LargerUnitsThanAPageAreKept) {
  SegmentContext segment = test::example_store().segment;
  segment.geometry = {.segment_bytes = 64 * 16384, .alignment = 16384};
  std::vector<DiskRecord> records = blocks(2, spec_of_bytes(4096, 1));
  ASSERT_TRUE(place_group(segment, 16384, 10 * 16384, records).is_ok());
  EXPECT_EQ(records[1].header.payload_offset, 3U * 16384);
  std::vector<std::byte> area(16384);
  encode_group(records, area);
  const ScanStep step = scan_step(segment, 16384, area);
  EXPECT_EQ(step.fault, DiskFault::kNone);
  EXPECT_EQ(step.next, 4U * 16384);
}

TEST(DiskScan, AnyIntactHeaderTellsItsGroup) {
  const test::ExampleStore store = test::example_store();
  std::vector<std::byte> segment = test::encode_example_segment(store);
  for (const std::uint64_t damaged : {std::uint64_t{0}, std::uint64_t{4096 + 40}, std::uint64_t{4608 + 40}}) {
    std::vector<std::byte> bytes = segment;
    bytes[damaged] ^= std::byte{1};
    const ScanStep step = scan_step(store.segment, 4096, std::span(bytes).subspan(4096));
    EXPECT_EQ(step.fault, DiskFault::kNone) << damaged;
    EXPECT_EQ(step.offset, 4096U);
    EXPECT_EQ(step.next, 32768U);
    EXPECT_EQ(step.count, 2U);
    EXPECT_EQ(step.header_stride, 512U);
  }
}

TEST(DiskScan, WhereNoHeaderIsIntactItGoesOnByOneUnitAndSaysWhy) {
  const test::ExampleStore store = test::example_store();
  std::vector<std::byte> segment = test::encode_example_segment(store);
  segment[4096 + 40] ^= std::byte{1};
  segment[4608 + 40] ^= std::byte{1};
  const auto step_at = [&](std::uint64_t offset) {
    return scan_step(store.segment, offset, std::span(segment).subspan(offset));
  };
  EXPECT_EQ(step_at(4096).fault, DiskFault::kHeaderDamaged);
  EXPECT_EQ(step_at(4096).next, 8192U);
  EXPECT_EQ(step_at(8192).fault, DiskFault::kForeign);
  EXPECT_EQ(step_at(36864).fault, DiskFault::kEmpty);
  EXPECT_EQ(scan_step(store.segment, 4096, {}).fault, DiskFault::kTruncated);
  EXPECT_EQ(scan_step(store.segment, 4096, {}).next, 8192U);
}

}  // namespace
}  // namespace kvtier
