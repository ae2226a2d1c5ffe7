// Conformance: bytes, events, bounds.

#include <algorithm>
#include <set>

#include "libkvclient/base/prng.h"
#include "tests/unit/io/conformance.h"

namespace kvtier::test {
namespace {

using IoTransferConformance = IoConformance;

TEST_P(IoTransferConformance, WhatIsWrittenIsReadBack) {
  OPEN_OR_SKIP(8);
  write_all();
  EXPECT_EQ(harness_->run({.kind = IoKind::kSync}).outcome, IoOutcome::kDone);
  for (std::uint64_t at = 0; at < RingHarness::kRegionBytes; at += kBlock) submit(IoKind::kRead, at);
  harness_->finish();
  EXPECT_EQ(wrong_bytes(0, RingHarness::kRegionBytes), 0U);
  EXPECT_EQ(ring().stats().bytes_read, RingHarness::kRegionBytes);
  EXPECT_EQ(ring().stats().bytes_written, RingHarness::kRegionBytes);
}

TEST_P(IoTransferConformance, AnEventNamesItsRequestAndWhatMoved) {
  OPEN_OR_SKIP(4);
  IoRequest request = harness_->request(IoKind::kWrite, kBlock, kBlock);
  request.tag = 0xfeed;
  const IoId id = harness_->submit(request);
  harness_->finish();
  const IoEvent event = harness_->result(id);
  EXPECT_EQ(event.outcome, IoOutcome::kDone);
  EXPECT_EQ(event.bytes, kBlock);
  EXPECT_EQ(event.error, 0);
  EXPECT_EQ(event.request.tag, 0xfeedU);
  EXPECT_EQ(event.request.offset, kBlock);
  EXPECT_FALSE(event.is_held);
}

// 0xEE is never returned as data: D-01.
TEST_P(IoTransferConformance, D01_AReadBeyondTheEndSaysHowMuchThereIs) {
  OPEN_OR_SKIP(4);
  harness_->run(harness_->request(IoKind::kWrite, 0, 12 * kKiB));
  std::ranges::fill(memory(RingHarness::kTarget), std::byte{0xee});
  const IoEvent cut = harness_->run(harness_->request(IoKind::kRead, 0, kBlock));
  EXPECT_EQ(cut.outcome, IoOutcome::kEndOfFile);
  EXPECT_EQ(cut.bytes, 12 * kKiB);
  EXPECT_EQ(wrong_bytes(0, cut.bytes), 0U);
  const IoEvent beyond = harness_->run(harness_->request(IoKind::kRead, kBlock, kBlock));
  EXPECT_EQ(beyond.outcome, IoOutcome::kEndOfFile);
  EXPECT_EQ(beyond.bytes, 0U);
}

// D-03: more than the device takes, and an owner who looks rarely.
TEST_P(IoTransferConformance, D03_TenThousandThroughADepthOfEight) {
  OPEN_OR_SKIP(8, {.requests_max = 64});
  write_all();
  Prng chance(5);
  constexpr std::size_t kCount = 10'000;
  std::set<std::pair<std::uint32_t, std::uint32_t>> ids;
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::uint64_t at = chance.below(RingHarness::kRegionBytes / (4 * kKiB)) * 4 * kKiB;
    const IoId id =
        harness_->submit(harness_->request(IoKind::kRead, harness_->unused(at, 4 * kKiB), 4 * kKiB));
    EXPECT_TRUE(ids.emplace(id.slot, id.generation).second) << "an id is never used twice";
    ASSERT_LE(ring().in_device_count(), 8U);
  }
  harness_->finish();
  EXPECT_EQ(outcomes()[IoOutcome::kDone], kCount + RingHarness::kRegionBytes / kBlock);
  EXPECT_EQ(harness_->events().size(), kCount + RingHarness::kRegionBytes / kBlock);
  EXPECT_GT(ring().stats().refused, 0U) << "a full ring said so";
}

TEST_P(IoTransferConformance, BytesInTheDeviceAreBoundedAndDepthIsKept) {
  OPEN_OR_SKIP(8, {.device_bytes_max = 4 * kBlock});
  for (std::uint64_t at = 0; at < 32 * kBlock; at += kBlock) submit(IoKind::kWrite, at);
  while (ring().requests_count() > 0) {
    if (harness_->poll() == 0) harness_->wait();
    ASSERT_LE(ring().in_device_bytes(), 4 * kBlock);
    ASSERT_LE(ring().in_device_count(), ring().requests_count());
  }
  EXPECT_EQ(outcomes()[IoOutcome::kDone], 32U);
}

ON_ALL_BACKENDS(IoTransferConformance);

}  // namespace
}  // namespace kvtier::test
