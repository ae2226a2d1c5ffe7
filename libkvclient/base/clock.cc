#include "libkvclient/base/clock.h"

#include <ctime>

namespace kvtier {
namespace {

TimeNs read_clock(clockid_t id) {
  timespec time{};
  clock_gettime(id, &time);
  return static_cast<TimeNs>(time.tv_sec) * kNsPerSecond + static_cast<TimeNs>(time.tv_nsec);
}

}  // namespace

TimeNs SystemClock::now_ns() const {
  return read_clock(CLOCK_MONOTONIC);
}

TimeNs coarse_now_ns() {
  return read_clock(CLOCK_MONOTONIC_COARSE);
}

}  // namespace kvtier
