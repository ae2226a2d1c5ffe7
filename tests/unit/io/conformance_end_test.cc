// Conformance: cancellation, tables of files and memory, bugs of the caller.

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "libkvclient/base/prng.h"
#include "tests/unit/io/conformance.h"

namespace kvtier::test {
namespace {

using IoEndConformance = IoConformance;

TEST_P(IoEndConformance, WhoWaitsForTheDeviceIsCancelledAtOnceAndHoldsNothing) {
  OPEN_OR_SKIP(2);
  std::vector<IoId> ids;
  for (std::uint64_t i = 0; i < 8; ++i) ids.push_back(submit(IoKind::kWrite, i * kBlock));
  for (const IoId id : ids) ring().cancel(id);
  EXPECT_EQ(ring().next_deadline_ns(), 0U) << "events are there to be taken";
  while (harness_->poll() > 0) {
  }
  EXPECT_EQ(ring().requests_count(), 0U);
  for (const IoId id : ids) {
    EXPECT_EQ(harness_->result(id).outcome, IoOutcome::kCancelled);
    EXPECT_FALSE(harness_->result(id).is_held);
  }
  for (const IoId id : ids) ring().cancel(id);
  EXPECT_EQ(harness_->poll(), 0U) << "what is over is left alone";
}

// L-05: cancelled at any moment, each request has one end, and what was held comes back once.
TEST_P(IoEndConformance, L05_OneEndWheneverItIsCancelled) {
  OPEN_OR_SKIP(8, {.requests_max = 32});
  write_all();
  const std::size_t before = harness_->events().size();
  Prng chance(9);
  constexpr std::size_t kCount = 2'000;
  std::vector<IoId> ids;
  for (std::size_t i = 0; i < kCount; ++i) {
    ids.push_back(submit(IoKind::kRead, harness_->unused(chance.below(64) * kBlock, kBlock)));
    if (chance.below(2) == 0) ring().cancel(ids[chance.below(ids.size())]);
    if (chance.below(8) == 0) harness_->poll();
    if (chance.below(4) == 0) ring().cancel(ids.back());
  }
  harness_->finish();
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<int, int>>
      ends;  // results, held minus released
  for (std::size_t i = before; i < harness_->events().size(); ++i) {
    const IoEvent& event = harness_->events()[i];
    auto& [results, held] = ends[{event.id.slot, event.id.generation}];
    const bool is_release = event.outcome == IoOutcome::kReleased;
    EXPECT_TRUE(!is_release || held == 1) << "released after it was held";
    results += is_release ? 0 : 1;
    held += is_release ? -1 : (event.is_held ? 1 : 0);
  }
  EXPECT_EQ(ends.size(), kCount);
  for (const auto& [id, end] : ends) EXPECT_EQ(end, std::pair(1, 0)) << id.first << " " << id.second;
  EXPECT_EQ(ring().in_device_count(), 0U);
  EXPECT_EQ(ring().in_device_bytes(), 0U);
  EXPECT_EQ(ring().held_count(), 0U);
}

TEST_P(IoEndConformance, ATableEntryInUseStaysUntilItsRequestsAreOver) {
  OPEN_OR_SKIP(4);
  submit(IoKind::kWrite, 0);
  EXPECT_EQ(ring().set_file(IoFile{0}, -1, 1).code(), Code::kBusy);
  EXPECT_EQ(ring().set_region(RingHarness::kSource, {}).code(), Code::kBusy);
  EXPECT_TRUE(ring().set_region(RingHarness::kTarget, {}).is_ok());
  harness_->finish();
  EXPECT_TRUE(ring().set_region(RingHarness::kSource, {}).is_ok());
  EXPECT_TRUE(ring().set_file(IoFile{0}, -1, 1).is_ok());
  EXPECT_EQ(ring().set_file(IoFile{64}, -1, 1).code(), Code::kInvalid);
  EXPECT_EQ(ring().set_region(IoRegion{1024}, {}).code(), Code::kInvalid);
}

TEST_P(IoEndConformance, MemoryOfATableEntryCanBeReplaced) {
  OPEN_OR_SKIP(4);
  harness_->run(harness_->request(IoKind::kWrite, 0, kBlock));
  const auto half = memory(RingHarness::kTarget).subspan(RingHarness::kRegionBytes / 2);
  ASSERT_TRUE(ring().set_region(RingHarness::kTarget, half).is_ok());
  IoRequest request = harness_->request(IoKind::kRead, 0, kBlock);
  request.data = half.data();
  EXPECT_EQ(harness_->run(request).outcome, IoOutcome::kDone);
  EXPECT_TRUE(std::ranges::equal(half.first(kBlock), memory(RingHarness::kSource).first(kBlock)));
}

TEST_P(IoEndConformance, AllOrSomeOfAnEventBatchCanBeTaken) {
  OPEN_OR_SKIP(4);
  for (std::uint64_t i = 0; i < 8; ++i) submit(IoKind::kWrite, i * kBlock);
  std::size_t count = 0;
  for (std::array<IoEvent, 1> one; count < 8;) {
    const std::size_t got = ring().poll(harness_->clock().now_ns(), one);
    count += got;
    if (got == 0) harness_->wait();
  }
  EXPECT_EQ(ring().requests_count(), 0U);
  EXPECT_EQ(ring().next_deadline_ns(), kNever);
}

// A wake may come after its completion was taken: it is taken too, or the owner's sleep ends at once for ever.
TEST_P(IoEndConformance, NothingWakesTheOwnerOfAnIdleRing) {
  OPEN_OR_SKIP(8);
  constexpr int kLooksMax = 1'000;
  for (int round = 0; round < 500; ++round) {
    for (std::uint64_t i = 0; i < 8; ++i) submit(IoKind::kWrite, i * kBlock);
    harness_->finish();
    int looks = 0;
    for (; harness_->is_woken() && looks < kLooksMax; ++looks) harness_->poll();
    ASSERT_LT(looks, kLooksMax) << "round " << round;
  }
}

using IoConformanceDeathTest = IoConformance;

TEST_P(IoConformanceDeathTest, ARequestOutsideItsTablesIsABug) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  OPEN_OR_SKIP(4);
  IoRequest request = harness_->request(IoKind::kRead, 0, kBlock);
  request.data += RingHarness::kRegionBytes - kBlock + 1;
  EXPECT_DEATH((void)ring().submit(request), "lies in its region");
  request = harness_->request(IoKind::kRead, 0, kBlock);
  request.file = IoFile{1};
  EXPECT_DEATH((void)ring().submit(request), "names a file of the table");
}

ON_ALL_BACKENDS(IoEndConformance);
ON_ALL_BACKENDS(IoConformanceDeathTest);

}  // namespace
}  // namespace kvtier::test
