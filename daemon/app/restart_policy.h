#pragma once
// When kvtier-keeper starts kvtierd again, and when it gives up. No clock and no process: what ran is told.

#include <optional>

#include "libkvclient/base/clock.h"

namespace kvtier {

/// One run of kvtierd that ended and was not asked to.
struct EndedRun {
  int wait_status = 0;  ///< of waitpid
  TimeNs lasted_ns = 0;
  bool has_served = false;  ///< its start succeeded
};

class RestartPolicy {
 public:
  static constexpr TimeNs kPauseMinNs = 20 * kNsPerMs;
  static constexpr TimeNs kPauseMaxNs = 5 * kNsPerSecond;
  /// A run of this length is none that failed at its start, and the next pause is the shortest again.
  static constexpr TimeNs kHealthyNs = 10 * kNsPerSecond;
  /// So is the next pause after a shorter run that served: whatever ended it, the restarts are not what is wrong, and
  /// one in two seconds costs nothing.
  static constexpr TimeNs kHealthyServedNs = 2 * kNsPerSecond;
  /// Starts in a row that failed: then no further one helps. As systemd's StartLimitBurst.
  static constexpr int kFailedStartsMax = 5;

  /// The pause before the next start; none: do not start again, end with exit_code().
  std::optional<TimeNs> after(const EndedRun& run);
  /// That of the run that was told last; 128 + signal as shells have it.
  [[nodiscard]] int exit_code() const { return exit_code_; }
  /// Given up, not ended for good by its own code.
  [[nodiscard]] bool has_given_up() const { return failed_starts_ == kFailedStartsMax; }

 private:
  int exit_code_ = 0;
  int failed_starts_ = 0;  ///< in a row
  TimeNs pause_ns_ = 0;    ///< 0: no run yet
};

}  // namespace kvtier
