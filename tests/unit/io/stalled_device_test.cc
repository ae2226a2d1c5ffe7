// D-13, D-14: a device that hangs. Requests end at their deadlines, and memory that the device has is nobody else's.

#include <gtest/gtest.h>

#include <algorithm>

#include "daemon/io/io_status.h"
#include "libkvclient/base/prng.h"
#include "tests/support/faulty_backend.h"
#include "tests/support/sim_disk_backend.h"
#include "tests/unit/io/ring_harness.h"

namespace kvtier::test {
namespace {

constexpr std::uint32_t kBlock = 4096;

class StalledDevice : public testing::Test {
 protected:
  StalledDevice() {
    IoUnderTest under;
    under.disk = std::make_unique<SimDisk>(1);
    under.fd = under.disk->create("file", RingHarness::kRegionBytes);
    fill(under.disk->image(under.fd), 5);
    under.alignment = kSimSectorBytes;
    auto device = std::make_unique<SimDiskBackend>(*under.disk, SimDiskOptions{.depth = 4});
    auto faulty = std::make_unique<FaultyBackend>(std::move(device), 3);
    device_ = faulty.get();
    under.backend = std::move(faulty);
    harness_ = std::make_unique<RingHarness>(std::move(under), IoRingOptions{.requests_max = 16});
  }
  IoRequest read_at(std::uint64_t offset, TimeNs within_ns) {
    IoRequest request = harness_->request(IoKind::kRead, offset, kBlock);
    request.deadline_ns = harness_->clock().now_ns() + within_ns;
    return request;
  }
  std::span<std::byte> target(std::uint64_t offset) {
    return harness_->memory(RingHarness::kTarget).subspan(offset, kBlock);
  }
  void poll_until(std::size_t events) {
    while (harness_->events().size() < events) {
      if (harness_->poll() == 0) harness_->wait();
    }
  }

  IoEvent run_until_answered(const IoRequest& request) {
    const IoId id = harness_->submit(request);
    poll_until(harness_->events().size() + 1);
    return harness_->result(id);
  }

  FaultyBackend* device_ = nullptr;
  std::unique_ptr<RingHarness> harness_;
};

TEST_F(StalledDevice, D13_ARequestEndsAtItsDeadlineAndNotBefore) {
  device_->next({.fault = IoFault::kStall});
  const IoId id = harness_->submit(read_at(0, kNsPerMs));
  EXPECT_EQ(harness_->poll(), 0U);
  EXPECT_EQ(harness_->ring().next_deadline_ns(), harness_->clock().now_ns() + kNsPerMs);
  harness_->clock().advance(kNsPerMs - 1);
  EXPECT_EQ(harness_->poll(), 0U);
  harness_->clock().advance(1);
  EXPECT_EQ(harness_->poll(), 1U);
  const IoEvent event = harness_->result(id);
  EXPECT_EQ(event.outcome, IoOutcome::kDeadline);
  EXPECT_TRUE(event.is_held);
  EXPECT_EQ(io_event_status(event).code(), Code::kDeadline);
}

TEST_F(StalledDevice, D14_MemoryComesBackWithTheLateCompletionOnly) {
  device_->next({.fault = IoFault::kStall});
  std::ranges::fill(target(0), std::byte{0xee});
  const IoId id = harness_->submit(read_at(0, kNsPerMs));
  poll_until(1);
  EXPECT_EQ(harness_->ring().set_region(RingHarness::kTarget, {}).code(), Code::kBusy);
  EXPECT_EQ(harness_->ring().held_count(), 1U);
  EXPECT_TRUE(std::ranges::all_of(target(0), [](std::byte b) { return b == std::byte{0xee}; }));
  device_->thaw();
  poll_until(2);
  EXPECT_EQ(harness_->events()[1].outcome, IoOutcome::kReleased);
  EXPECT_EQ(harness_->events()[1].id, id);
  EXPECT_FALSE(std::ranges::all_of(target(0), [](std::byte b) { return b == std::byte{0xee}; }))
      << "the device did write, that late";
  EXPECT_EQ(harness_->ring().held_count(), 0U);
  EXPECT_TRUE(harness_->ring().set_region(RingHarness::kTarget, {}).is_ok());
}

TEST_F(StalledDevice, D13_AHangingDeviceFillsItsDepthOnceAndTakesNoMoreMemory) {
  device_->next({.fault = IoFault::kStall, .count = 4});
  for (std::uint64_t i = 0; i < 16; ++i) (void)harness_->submit(read_at(i * kBlock, kNsPerMs));
  poll_until(16);
  EXPECT_EQ(harness_->ring().in_device_count(), 4U);
  EXPECT_EQ(std::ranges::count_if(harness_->events(), [](const IoEvent& event) { return event.is_held; }), 4);
  EXPECT_EQ(harness_->ring().stats().late, 16U);
  const IoEvent next = run_until_answered(read_at(0, kNsPerMs));
  EXPECT_EQ(next.outcome, IoOutcome::kDeadline);
  EXPECT_FALSE(next.is_held) << "it never reached the device";
  EXPECT_EQ(device_->stalled_count(), 4U);
}

TEST_F(StalledDevice, D13_AfterTheThawItServesAgain) {
  device_->next({.fault = IoFault::kStall, .count = 4});
  for (std::uint64_t i = 0; i < 8; ++i) (void)harness_->submit(read_at(i * kBlock, kNsPerMs));
  poll_until(8);
  device_->thaw();
  harness_->finish();
  EXPECT_EQ(harness_->run(read_at(0, kNsPerSecond)).outcome, IoOutcome::kDone);
  EXPECT_EQ(harness_->ring().stats().released, 4U);
}

// D-14, many rounds: blocks are given to the next user as soon as the ring says so, and never before.
TEST_F(StalledDevice, D14_NoLateCompletionLandsInReusedMemory) {
  device_->sometimes({.fault = IoFault::kDelay, .delay_ns = 10 * kNsPerMs}, 0.3);
  constexpr std::size_t kBlocks = 8;
  std::vector<bool> is_device(kBlocks, false);
  std::ranges::fill(harness_->memory(RingHarness::kTarget), std::byte{0x11});
  Prng chance(4);
  std::size_t seen = 0;
  for (int round = 0; round < 10'000; ++round) {
    for (; seen < harness_->events().size(); ++seen) {
      const IoEvent& event = harness_->events()[seen];
      if (event.is_held) continue;
      const std::size_t block = event.request.offset / kBlock;
      is_device[block] = false;
      std::ranges::fill(target(block * kBlock), std::byte{0x11});
    }
    for (std::size_t block = 0; block < kBlocks; ++block) {
      if (is_device[block]) continue;
      ASSERT_TRUE(
          std::ranges::all_of(target(block * kBlock), [](std::byte b) { return b == std::byte{0x11}; }))
          << "block " << block << " in round " << round;
    }
    const std::size_t next = chance.below(kBlocks);
    if (!is_device[next] && harness_->ring().submit(read_at(next * kBlock, kNsPerMs)).has_value()) {
      is_device[next] = true;
    }
    if (harness_->poll() == 0) harness_->wait();
  }
  EXPECT_GT(harness_->ring().stats().late, 100U);
  EXPECT_GT(harness_->ring().stats().done, 100U);
}

}  // namespace
}  // namespace kvtier::test
