#pragma once
// One look at the mapped counters file. The daemon has no part in it, so it works while the daemon hangs.

#include <map>
#include <string>
#include <vector>

#include "libkvclient/wire/counters_reader.h"

namespace kvtier::ctl {

struct StatSample {
  CountersIdentity identity;
  bool is_running = false;  ///< its process exists
  TimeNs now_ns = 0;
  TimeNs heartbeat_age_ns = 0;  ///< since the conductor's last round
  std::vector<CounterSample> counters;
  std::vector<ErrorSample> errors;

  /// A conductor sleeps half a second at most.
  [[nodiscard]] bool is_hanging() const { return is_running && heartbeat_age_ns > 2 * kNsPerSecond; }
};

/// Opens the file anew: a restarted daemon has another. Throws Failure.
StatSample take_stat_sample(const std::string& path);

/// A second; a bare number is seconds, else a duration with a unit. Throws Failure.
TimeNs parse_interval(const std::string& text);

}  // namespace kvtier::ctl
