#pragma once
// Runs all schedules of a scenario, with all values that its loads may read and all deaths, depth first.
// States that were reached before are not gone through again: they are remembered by a 128-bit hash, so two
// different states pass for one with a chance below 2^-80 in a million.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/explore/machine.h"

namespace kvtier::explore {

inline constexpr std::uint64_t kStatesMax = 20'000'000;

struct Report {
  std::uint64_t state_count = 0;
  std::string failure;  ///< empty: every schedule passed
  std::string trace;    ///< of the schedule that failed, an operation a line
};

Report explore(const Scenario& scenario);

}  // namespace kvtier::explore
