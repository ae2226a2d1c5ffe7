#pragma once
// The plan as text and as JSON.

#include <string>
#include <vector>

#include "tools/kvctl/plan_tiers.h"
#include "tools/planner/tier_plan.h"

namespace kvtier::ctl {

struct Plan {
  plan::KvModel model;
  plan::TierQuestion question;
  plan::KvBytes kv;
  std::uint64_t blocks = 0;      ///< of all sequences
  std::uint64_t slot_bytes = 0;  ///< that those take in host memory, uncoded
  std::vector<plan::CodecSize> codecs;
  PlanTiers tiers;
  std::vector<plan::TierRow> rows;
};

void print_plan(const Plan& plan);
void print_plan_json(const Plan& plan);

}  // namespace kvtier::ctl
