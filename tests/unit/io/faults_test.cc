// What the doubles do: faults of a device reach the caller as they should, and a simulated disk loses what it may.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "daemon/io/io_status.h"
#include "tests/support/faulty_backend.h"
#include "tests/support/sim_disk_backend.h"
#include "tests/unit/io/ring_harness.h"

namespace kvtier::test {
namespace {

constexpr std::uint32_t kBlock = 4096;

class IoFaults : public testing::Test {
 protected:
  IoFaults() {
    IoUnderTest under;
    under.disk = std::make_unique<SimDisk>(1, RingHarness::kRegionBytes);
    disk_ = under.disk.get();
    under.fd = under.disk->create("file", 64 * kBlock);
    under.alignment = kSimSectorBytes;
    auto faulty =
        std::make_unique<FaultyBackend>(std::make_unique<SimDiskBackend>(*under.disk, SimDiskOptions{}), 3);
    device_ = faulty.get();
    under.backend = std::move(faulty);
    harness_ = std::make_unique<RingHarness>(std::move(under), IoRingOptions{});
    fill(harness_->memory(RingHarness::kSource), 3);
  }
  IoEvent run(IoKind kind, std::uint64_t at) { return harness_->run(harness_->request(kind, at, kBlock)); }
  std::size_t wrong_bits(std::uint64_t at) {
    std::size_t bits = 0;
    for (std::size_t i = at; i < at + kBlock; ++i) {
      const auto difference =
          harness_->memory(RingHarness::kSource)[i] ^ harness_->memory(RingHarness::kTarget)[i];
      bits += static_cast<std::size_t>(__builtin_popcount(std::to_integer<unsigned>(difference)));
    }
    return bits;
  }

  SimDisk* disk_ = nullptr;
  FaultyBackend* device_ = nullptr;
  std::unique_ptr<RingHarness> harness_;
};

TEST_F(IoFaults, ErrorsOfTheDeviceCarryCallErrnoAndAdvice) {
  struct Row {
    int error;
    Code code;
    const char* advice;
  };
  for (const Row& row :
       {Row{EIO, Code::kSystem, "kernel log"}, Row{ENOSPC, Code::kNoSpace, "free space"},
        Row{EROFS, Code::kDenied, "read-only"}, Row{ENODEV, Code::kSystem, "the device is gone"}}) {
    device_->next({.fault = IoFault::kFail, .error = row.error});
    const IoEvent event = run(IoKind::kWrite, 0);
    EXPECT_EQ(event.outcome, IoOutcome::kFailed);
    const Status status = io_event_status(event);
    EXPECT_EQ(status.code(), row.code);
    EXPECT_NE(status.message().find("write of 4096 bytes at 0"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find(row.advice), std::string::npos) << status.message();
  }
  EXPECT_EQ(run(IoKind::kWrite, 0).outcome, IoOutcome::kDone) << "the next one is served";
}

TEST_F(IoFaults, AFullDiskFailsWritesThatNeedMoreAndNoOthers) {
  const std::uint64_t beyond = RingHarness::kRegionBytes - kBlock;
  disk_->set_capacity(64 * kBlock);
  EXPECT_EQ(run(IoKind::kWrite, beyond).error, ENOSPC);
  EXPECT_EQ(run(IoKind::kWrite, 0).outcome, IoOutcome::kDone);
  disk_->set_capacity(kNever);
  EXPECT_EQ(run(IoKind::kWrite, beyond).outcome, IoOutcome::kDone);
}

TEST_F(IoFaults, DamageIsOneBitAndNeverInTheWritersMemory) {
  device_->next({.fault = IoFault::kCorrupt, .only = IoKind::kRead});
  run(IoKind::kWrite, 0);
  run(IoKind::kRead, 0);
  EXPECT_EQ(wrong_bits(0), 1U) << "read damaged";
  run(IoKind::kRead, 0);
  EXPECT_EQ(wrong_bits(0), 0U) << "the disk is not";
  const std::vector<std::byte> before(harness_->memory(RingHarness::kSource).begin(),
                                      harness_->memory(RingHarness::kSource).begin() + kBlock);
  device_->next({.fault = IoFault::kCorrupt});
  run(IoKind::kWrite, 0);
  EXPECT_TRUE(std::ranges::equal(before, harness_->memory(RingHarness::kSource).first(kBlock)));
  run(IoKind::kRead, 0);
  EXPECT_EQ(wrong_bits(0), 1U) << "written damaged";
  EXPECT_EQ(device_->injected_count(), 2U);
}

TEST_F(IoFaults, ADroppedRequestEndsAtItsDeadlineAndHoldsItsMemoryForGood) {
  device_->next({.fault = IoFault::kDrop});
  IoRequest request = harness_->request(IoKind::kWrite, 0, kBlock);
  request.deadline_ns = harness_->clock().now_ns() + kNsPerSecond;
  const IoId id = harness_->submit(request);
  while (harness_->events().empty()) {
    if (harness_->poll() == 0) harness_->wait();
  }
  EXPECT_TRUE(harness_->result(id).is_held);
  EXPECT_EQ(harness_->ring().in_device_count(), 1U);
  EXPECT_TRUE(std::ranges::equal(std::span(disk_->image(0)).first(kBlock),
                                 harness_->memory(RingHarness::kSource).first(kBlock)))
      << "it was done all the same";
}

TEST_F(IoFaults, ReorderedRequestsReachTheDeviceInAnotherOrder) {
  device_->sometimes({.fault = IoFault::kReorder}, 1.0);
  std::vector<IoId> ids;
  for (std::uint64_t i = 0; i < 16; ++i)
    ids.push_back(harness_->submit(harness_->request(IoKind::kWrite, i * kBlock, kBlock)));
  harness_->finish();
  std::vector<std::uint64_t> offsets;
  for (const IoEvent& event : harness_->events()) offsets.push_back(event.request.offset);
  EXPECT_EQ(offsets.size(), 16U);
  EXPECT_FALSE(std::ranges::is_sorted(offsets));
}

}  // namespace
}  // namespace kvtier::test
