#include "libkvclient/base/clock.h"

#include <gtest/gtest.h>

#include <ctime>

namespace kvtier {
namespace {

TEST(Clock, SystemClockIsTheHostsMonotonicOneAndNeverGoesBack) {
  const SystemClock clock;
  timespec before{};
  clock_gettime(CLOCK_MONOTONIC, &before);
  TimeNs last_ns = static_cast<TimeNs>(before.tv_sec) * kNsPerSecond + static_cast<TimeNs>(before.tv_nsec);
  for (int i = 0; i < 1000; ++i) {
    const TimeNs now_ns = clock.now_ns();
    EXPECT_GE(now_ns, last_ns);
    last_ns = now_ns;
  }
}

TEST(Clock, CoarseTimeIsNotAheadOfFineTime) {
  const SystemClock clock;
  for (int i = 0; i < 1000; ++i) {
    const TimeNs coarse_ns = coarse_now_ns();
    EXPECT_LE(coarse_ns, clock.now_ns());
  }
}

TEST(Clock, ManualClockMovesWhenToldTo) {
  ManualClock clock(5);
  EXPECT_EQ(clock.now_ns(), 5U);
  EXPECT_EQ(clock.now_ns(), 5U);
  clock.advance(7);
  EXPECT_EQ(clock.now_ns(), 12U);
}

}  // namespace
}  // namespace kvtier
