#pragma once
// The tiers that are planned for: those of the daemon's configuration, read by its own reader, with what flags change.

#include "tools/kvctl/plan_options.h"
#include "tools/planner/tier_plan.h"

namespace kvtier::ctl {

struct PlanTiers {
  plan::TierSizes sizes;
  std::uint64_t write_budget_bytes_per_day = 0;  ///< all of it; 0: no limit
};

/// Throws Failure: usage, or every mistake in the configuration.
PlanTiers plan_tiers_of(const PlanOptions& options);

}  // namespace kvtier::ctl
