#include "tests/kill/stall_meter.h"

#include <algorithm>
#include <chrono>

namespace kvtier::kill {
namespace {

constexpr TimeNs kSleepNs = kNsPerMs;
/// Shorter ones are a timer's normal slack.
constexpr TimeNs kStallMinNs = 200 * kNsPerUs;

}  // namespace

StallMeter::StallMeter() {
  const unsigned count = std::max(1U, std::thread::hardware_concurrency());
  for (unsigned i = 0; i < count; ++i) threads_.emplace_back([this] { run(); });
}

StallMeter::~StallMeter() {
  is_stopping_.store(true);
  for (std::thread& thread : threads_) thread.join();
}

TimeNs StallMeter::max_ns(TimeNs begin_ns, TimeNs end_ns) const {
  const std::lock_guard lock(mutex_);
  TimeNs most = 0;
  for (const Stall& stall : stalls_) {
    if (stall.due_ns < end_ns && stall.woke_ns > begin_ns)
      most = std::max(most, stall.woke_ns - stall.due_ns);
  }
  return most;
}

void StallMeter::run() {
  const SystemClock clock;
  while (!is_stopping_.load(std::memory_order_relaxed)) {
    const TimeNs due_ns = clock.now_ns() + kSleepNs;
    std::this_thread::sleep_for(std::chrono::nanoseconds(kSleepNs));
    const TimeNs woke_ns = clock.now_ns();
    if (woke_ns > due_ns + kStallMinNs) note({due_ns, woke_ns});
  }
}

void StallMeter::note(const Stall& stall) {
  const std::lock_guard lock(mutex_);
  stalls_.push_back(stall);
}

}  // namespace kvtier::kill
