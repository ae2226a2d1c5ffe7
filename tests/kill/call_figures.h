#pragma once
// How long the calls of the clients that are not killed took: quantiles, the worst ones, and what the machine
// did to a thread that does nothing while they lasted.

#include <array>
#include <nlohmann/json_fwd.hpp>

#include "tests/kill/stall_meter.h"
#include "tests/kill/worker_cells.h"

namespace kvtier::kill {

class CallFigures {
 public:
  /// Adds an ended worker's calls.
  void add(const WorkerCell& cell, const StallMeter& stalls);

  [[nodiscard]] TimeNs max_ns() const { return longest_.excess_ns; }
  /// How far a call went beyond its deadline.
  [[nodiscard]] TimeNs overrun_max_ns() const { return latest_.excess_ns; }
  void write(nlohmann::ordered_json& json) const;

 private:
  struct Worst {
    TimeNs excess_ns = 0;
    TimeNs took_ns = 0;
    TimeNs stall_ns = 0;  ///< the longest of a control thread while the call lasted
    const char* verb = "none";
  };
  static void add(Worst& worst, const WorstCall& call, const StallMeter& stalls);

  std::array<LatencyCounts, kVerbs> latencies_;
  std::array<TimeNs, kVerbs> max_ns_{};
  LatencyCounts all_;
  Worst longest_;
  Worst latest_;
};

}  // namespace kvtier::kill
