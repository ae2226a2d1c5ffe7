#pragma once
// What this machine does to threads that only sleep a millisecond at a time: how late they were, and when.
// They run in the driver, in the workers' scheduling class; latencies of a run are read beside them.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "libkvclient/base/clock.h"

namespace kvtier::kill {

class StallMeter {
 public:
  /// One thread a processor, not bound to it: as free as the threads of a call.
  StallMeter();
  ~StallMeter();
  StallMeter(const StallMeter&) = delete;
  StallMeter& operator=(const StallMeter&) = delete;

  [[nodiscard]] TimeNs max_ns() const { return max_ns(0, kNever); }
  /// The longest that was going on at some moment between the two.
  [[nodiscard]] TimeNs max_ns(TimeNs begin_ns, TimeNs end_ns) const;

 private:
  struct Stall {
    TimeNs due_ns = 0;
    TimeNs woke_ns = 0;
  };
  void run();
  void note(const Stall& stall);

  std::atomic<bool> is_stopping_ = false;
  mutable std::mutex mutex_;
  std::vector<Stall> stalls_;  ///< guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace kvtier::kill
