// What io_uring alone can show: a cancellation that reaches the kernel, and a ring that is closed under its device.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "daemon/io/uring_backend.h"
#include "libkvclient/base/units.h"
#include "tests/unit/io/ring_harness.h"

namespace kvtier::test {
namespace {

/// An empty pipe is a device that hangs for as long as nobody writes.
class UringPipe : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<IoBackend>> backend = open_uring({.depth = 4});
    if (!backend.is_ok()) GTEST_SKIP() << backend.status().to_string();
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    write_end_ = UniqueFd(ends[1]);
    IoUnderTest under;
    under.backend = std::move(backend).value();
    under.file = UniqueFd(ends[0]);
    under.fd = ends[0];
    harness_ = std::make_unique<RingHarness>(std::move(under), IoRingOptions{});
  }
  void poll_until(std::size_t events) {
    while (harness_->events().size() < events) {
      if (harness_->poll() == 0) harness_->wait();
    }
  }
  UniqueFd write_end_;
  std::unique_ptr<RingHarness> harness_;
};

TEST_F(UringPipe, ACancelledReadGivesItsMemoryBackAlthoughTheDeviceHangs) {
  const IoId id = harness_->submit(harness_->request(IoKind::kRead, 0, 4096));
  EXPECT_EQ(harness_->poll(), 0U);
  EXPECT_EQ(harness_->ring().in_device_count(), 1U);
  harness_->ring().cancel(id);
  harness_->finish();
  ASSERT_EQ(harness_->events().size(), 2U);
  EXPECT_EQ(harness_->events()[0].outcome, IoOutcome::kCancelled);
  EXPECT_TRUE(harness_->events()[0].is_held);
  EXPECT_EQ(harness_->events()[1].outcome, IoOutcome::kReleased);
  EXPECT_EQ(harness_->events()[1].error, ECANCELED);
}

TEST_F(UringPipe, ALateReadIsCancelledInTheKernelToo) {
  IoRequest request = harness_->request(IoKind::kRead, 0, 4096);
  request.deadline_ns = harness_->clock().now_ns() + kNsPerMs;
  const IoId id = harness_->submit(request);
  harness_->finish();
  EXPECT_EQ(harness_->result(id).outcome, IoOutcome::kDeadline);
  EXPECT_EQ(harness_->ring().stats().released, 1U);
}

TEST_F(UringPipe, ShortReadsOfTheKernelAreResumed) {
  const IoId id = harness_->submit(harness_->request(IoKind::kRead, 0, 4096));
  for (int part = 0; part < 4; ++part) {
    const std::array<char, 1024> bytes{static_cast<char>('a' + part)};
    ASSERT_EQ(::write(write_end_.get(), bytes.data(), bytes.size()), 1024);
    while (harness_->ring().stats().resumed + harness_->events().size() <
           static_cast<std::size_t>(part) + 1) {
      if (harness_->poll() == 0) harness_->wait();
    }
  }
  harness_->finish();
  EXPECT_EQ(harness_->result(id).outcome, IoOutcome::kDone);
  EXPECT_EQ(harness_->ring().stats().resumed, 3U);
  for (const std::size_t part : {0U, 1U, 2U, 3U})
    EXPECT_EQ(std::to_integer<char>(harness_->memory(RingHarness::kTarget)[part * 1024]),
              static_cast<char>('a' + part));
}

// What cannot be synced says so: the call was made.
TEST_F(UringPipe, ASyncReachesTheFile) {
  const IoEvent event = harness_->run({.kind = IoKind::kSync});
  EXPECT_EQ(event.outcome, IoOutcome::kFailed);
  EXPECT_EQ(event.error, EINVAL);
}

// Otherwise the kernel would go on writing into memory that has another owner by then.
TEST(UringClose, WaitsForWhatTheDeviceHas) {
  Result<IoUnderTest> under = kernel_io_cases()[1].open(32);
  if (!under.is_ok()) GTEST_SKIP() << under.status().to_string();
  RingHarness harness(std::move(under).value(), {});
  fill(harness.memory(RingHarness::kSource), 3);
  constexpr std::uint32_t kBlock = 128 * kKiB;
  for (std::uint64_t at = 0; at < RingHarness::kRegionBytes; at += kBlock)
    (void)harness.submit(harness.request(IoKind::kWrite, at, kBlock));
  harness.finish();
  for (std::uint64_t at = 0; at < RingHarness::kRegionBytes; at += kBlock)
    (void)harness.submit(harness.request(IoKind::kRead, at, kBlock));
  (void)harness.poll();
  harness.close();
  EXPECT_TRUE(std::ranges::equal(harness.memory(RingHarness::kSource), harness.memory(RingHarness::kTarget)));
}

}  // namespace
}  // namespace kvtier::test
