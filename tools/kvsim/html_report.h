#pragma once
// What a replay under several policies and capacities showed, as one HTML file that needs nothing else.

#include <optional>
#include <string>
#include <vector>

#include "tools/kvsim/replay.h"

namespace kvtier::sim {

struct ReportCell {
  double capacity_percent = 0;
  ReplayResult result;
};

struct Report {
  std::string trace;    ///< its name, as it was given
  std::string command;  ///< that repeats the report
  std::uint64_t requests = 0;
  std::uint32_t unique_blocks = 0;
  std::vector<ReportCell> cells;  ///< all policies of one capacity together, capacities ascending
};

/// Name of the line in charts and tables: "default" with what its engines told it is another policy than without.
std::string line_name(const ReplayResult& result);

/// The share of what LRU leaves to the clairvoyant policy that `name` closes at a capacity: (hits - LRU) / (MIN - LRU).
/// Nothing without both, or where they are equal.
std::optional<double> gap_closed(const Report& report, double capacity_percent, const std::string& name);

std::string to_html(const Report& report);

}  // namespace kvtier::sim
