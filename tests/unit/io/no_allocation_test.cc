// After a ring is made, requests allocate nothing: not on the agent's thread and not on the workers'.

#include <gtest/gtest.h>

#include <array>

#include "tests/support/allocation_trap.h"
#include "tests/unit/io/ring_harness.h"

namespace kvtier::test {
namespace {

class IoAllocations : public testing::TestWithParam<IoCase> {};

/// Writes, reads, syncs, reads beyond the end, cancellations and deadlines.
std::size_t mixed_requests(RingHarness& harness, int rounds) {
  constexpr std::uint32_t kBlock = 8192;
  std::array<IoEvent, 32> events;
  std::size_t count = 0;
  for (int round = 0; round < rounds; ++round) {
    const IoKind kind = round % 3 == 0 ? IoKind::kWrite : IoKind::kRead;
    IoRequest request = harness.request(kind, static_cast<std::uint64_t>(round % 300) * kBlock, kBlock);
    if (round % 7 == 0) request = {.kind = IoKind::kSync};
    if (round % 5 == 0) request.deadline_ns = harness.clock().now_ns();
    std::optional<IoId> id = harness.ring().submit(request);
    for (; !id.has_value(); id = harness.ring().submit(request)) {
      const std::size_t got = harness.ring().poll(harness.clock().now_ns(), events);
      count += got;
      if (got == 0) harness.wait();
    }
    if (round % 11 == 0) harness.ring().cancel(*id);
  }
  while (harness.ring().requests_count() > 0) {
    const std::size_t got = harness.ring().poll(harness.clock().now_ns(), events);
    count += got;
    if (got == 0) harness.wait();
  }
  return count;
}

TEST_P(IoAllocations, RequestsAllocateNothing) {
  Result<IoUnderTest> under = GetParam().open(8);
  if (!under.is_ok()) GTEST_SKIP() << under.status().to_string();
  RingHarness harness(std::move(under).value(), {.requests_max = 32});
  (void)mixed_requests(harness, 100);
  const std::size_t before = AllocationTrap::caught_count();
  std::size_t events = 0;
  {
    const AllocationTrap trap(AllocationTrap::Watch::kAllThreads);
    events = mixed_requests(harness, 2'000);
  }
  EXPECT_EQ(AllocationTrap::caught_count(), before) << "the places are above";
  EXPECT_GE(events, 2'000U);
}

INSTANTIATE_TEST_SUITE_P(Backends, IoAllocations, testing::ValuesIn(kernel_io_cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace kvtier::test
