#pragma once
// What this machine does to a thread that only sleeps a millisecond at a time: the longest it was late.
// Latencies of a run are read beside this number.

#include <atomic>
#include <thread>

#include "libkvclient/base/clock.h"

namespace kvtier::kill {

class StallMeter {
 public:
  StallMeter() : thread_([this] { run(); }) {}
  ~StallMeter() {
    is_stopping_.store(true);
    thread_.join();
  }
  StallMeter(const StallMeter&) = delete;
  StallMeter& operator=(const StallMeter&) = delete;

  [[nodiscard]] TimeNs max_ns() const { return max_ns_.load(std::memory_order_relaxed); }

 private:
  void run() {
    const SystemClock clock;
    while (!is_stopping_.load(std::memory_order_relaxed)) {
      const TimeNs before_ns = clock.now_ns();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const TimeNs late_ns = clock.now_ns() - before_ns - kNsPerMs;
      if (late_ns > max_ns()) max_ns_.store(late_ns, std::memory_order_relaxed);
    }
  }

  std::atomic<TimeNs> max_ns_ = 0;
  std::atomic<bool> is_stopping_ = false;
  std::thread thread_;  ///< last: it uses the others
};

}  // namespace kvtier::kill
