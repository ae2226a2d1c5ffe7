#pragma once
// The only source of time. Agents get `now` from a Clock; tests and the simulation hand in a ManualClock.

#include <cstdint>

namespace kvtier {

/// Nanoseconds of CLOCK_MONOTONIC: equal for all processes of a host, so deadlines may cross the wire.
using TimeNs = std::uint64_t;

inline constexpr TimeNs kNsPerUs = 1'000;
inline constexpr TimeNs kNsPerMs = 1'000'000;
inline constexpr TimeNs kNsPerSecond = 1'000'000'000;
inline constexpr TimeNs kNever = ~TimeNs{0};

class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimeNs now_ns() const = 0;
};

/// CLOCK_MONOTONIC. Thread-safe.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] TimeNs now_ns() const override;
};

/// CLOCK_MONOTONIC at tick resolution (1 to 4 ms): a few nanoseconds a call, for access-log times.
TimeNs coarse_now_ns();

/// Time that moves only when told to. For tests and the simulation. Not thread-safe.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(TimeNs start_ns = kNsPerSecond) : now_ns_(start_ns) {}
  [[nodiscard]] TimeNs now_ns() const override { return now_ns_; }
  void advance(TimeNs delta_ns) { now_ns_ += delta_ns; }

 private:
  TimeNs now_ns_;
};

}  // namespace kvtier
