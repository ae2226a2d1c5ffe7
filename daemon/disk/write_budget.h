#pragma once
// How much may be written in a day: flash wears out. Pure: time comes from the caller. A bucket that fills evenly over
// the day and holds a part of it, so that a burst has a bound.

#include <cstdint>

#include "libkvclient/base/clock.h"

namespace kvtier {

inline constexpr TimeNs kNsPerDay = 86'400 * kNsPerSecond;

struct WriteBudgetOptions {
  std::uint64_t bytes_per_day = ~std::uint64_t{0};  ///< the default: no limit
  std::uint64_t burst_bytes = 1ULL << 32;
};

class WriteBudget {
 public:
  explicit WriteBudget(const WriteBudgetOptions& options)
      : options_(options), level_bytes_(static_cast<std::int64_t>(options.burst_bytes)) {}

  /// A life that follows another: that one may have taken all that there was up to its last write, `idle_ns` ago. What the
  /// time since has filled is there, and no burst more: however often a daemon starts, a day keeps to its bytes.
  void resume_after(TimeNs idle_ns);
  /// Takes them, or says no and takes nothing.
  [[nodiscard]] bool take(std::uint64_t bytes, TimeNs now_ns);
  /// They were written, whatever there was: what is missing is a debt, which is paid before anything is taken.
  void charge(std::uint64_t bytes, TimeNs now_ns);
  /// What may be taken; 0 with a debt.
  [[nodiscard]] std::uint64_t level_bytes(TimeNs now_ns);
  [[nodiscard]] std::uint64_t taken_bytes() const { return taken_bytes_; }
  [[nodiscard]] std::uint64_t refused_bytes() const { return refused_bytes_; }

 private:
  [[nodiscard]] bool is_unlimited() const { return options_.bytes_per_day == ~std::uint64_t{0}; }
  void fill(TimeNs now_ns);

  const WriteBudgetOptions options_;
  std::int64_t level_bytes_;  ///< below 0: a debt
  TimeNs filled_ns_ = 0;      ///< 0: never asked
  std::uint64_t taken_bytes_ = 0;
  std::uint64_t refused_bytes_ = 0;
};

struct DiskStats;
/// At the end of a recovery: from what it found, and the wall clock.
void resume_budget(WriteBudget& budget, const DiskStats& stats, std::uint64_t wall_ns);

}  // namespace kvtier
