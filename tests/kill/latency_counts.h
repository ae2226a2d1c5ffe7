#pragma once
// How many calls took how long: sixteen steps an octave, so a quantile is at most a sixteenth too high.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "libkvclient/base/clock.h"

namespace kvtier::kill {

inline constexpr std::size_t kLatencySteps = 61 * 16;

constexpr std::size_t latency_step(TimeNs ns) {
  if (ns < 16) return static_cast<std::size_t>(ns);
  const auto octave = static_cast<unsigned>(std::bit_width(ns)) - 5;
  return (octave + 1) * 16 + static_cast<std::size_t>((ns >> octave) & 15);
}

/// The longest latency of a step.
constexpr TimeNs latency_of_step(std::size_t step) {
  if (step < 16) return step;
  return ((TimeNs{17} + step % 16) << (step / 16 - 1)) - 1;
}
static_assert(latency_step(~TimeNs{0}) == kLatencySteps - 1 &&
              latency_of_step(kLatencySteps - 1) == ~TimeNs{0});

class LatencyCounts {
 public:
  void add(std::size_t step, std::uint64_t calls) {
    steps_[step] += calls;
    count_ += calls;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// The latency that this share of the calls (0 to 1) did not exceed; 0 without calls.
  [[nodiscard]] TimeNs quantile(double share) const {
    const auto wanted = static_cast<std::uint64_t>(static_cast<double>(count_) * share);
    std::uint64_t seen = 0;
    for (std::size_t step = 0; step < kLatencySteps; ++step) {
      seen += steps_[step];
      if (seen > 0 && seen >= wanted) return latency_of_step(step);
    }
    return 0;
  }

 private:
  std::array<std::uint64_t, kLatencySteps> steps_{};
  std::uint64_t count_ = 0;
};

}  // namespace kvtier::kill
