// The circuit breaker alone, on a device whose probes go well.

#include "daemon/disk/path_health.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/sim_disk_backend.h"

namespace kvtier::test {
namespace {

class PathHealthTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(ring_.set_file(IoFile{0}, disk_.create("path", kMiB), 1).is_ok());
    ASSERT_TRUE(ring_.set_region(options_.scratch_region, unit_).is_ok());
  }
  /// As if four writes in a row had failed. Returns how long it takes to come back.
  TimeNs fail_and_return() {
    io_.luck(IoFile{0}).writes.failed = 4;
    health_.step(now_ns_);
    EXPECT_EQ(health_.state(), PathState::kFailed);
    const TimeNs failed_ns = now_ns_;
    for (int i = 0; i < 1000 && !health_.is_serving(); ++i) {
      const TimeNs next_ns = std::min(health_.next_probe_ns(), backend_.next_deadline_ns());
      now_ns_ = std::max(now_ns_, next_ns == kNever ? now_ns_ : next_ns);
      (void)io_.poll(now_ns_);
      health_.step(now_ns_);
      (void)io_.poll(now_ns_);
    }
    EXPECT_TRUE(health_.is_serving());
    return (now_ns_ - failed_ns) / kNsPerMs;
  }

  SimDisk disk_{1};
  std::unique_ptr<SimDiskBackend> made_ = std::make_unique<SimDiskBackend>(disk_, SimDiskOptions{});
  SimDiskBackend& backend_ = *made_;
  IoRing ring_{std::move(made_), IoRingOptions{.requests_max = 8}};
  DiskStats stats_;
  DiskIo io_{ring_, stats_};
  const DiskStoreOptions options_{.probe_interval_ns = 100 * kNsPerMs};
  alignas(kAlignmentMin) std::array<std::byte, kAlignmentMin> unit_{};
  PathHealth health_{io_, IoFile{0}, options_, unit_};
  TimeNs now_ns_ = kNsPerSecond;
};

// A full disk: a probe writes where there is room already, puts do not.
TEST_F(PathHealthTest, APathThatFailsSoonAfterItCameBackComesBackEverMoreSeldom_D11) {
  EXPECT_EQ(fail_and_return(), 100U);
  for (const TimeNs waited_ms : {200U, 400U, 800U, 1600U, 3200U, 3200U})
    EXPECT_EQ(fail_and_return(), waited_ms);
}

TEST_F(PathHealthTest, ALaterTroubleIsANewOne_D11) {
  for (int i = 0; i < 4; ++i) (void)fail_and_return();
  now_ns_ += 61 * kNsPerSecond;
  EXPECT_EQ(fail_and_return(), 100U);
}

}  // namespace
}  // namespace kvtier::test
