#pragma once
// The model that is planned for: from its file, or from flags.

#include "tools/kvctl/plan_options.h"
#include "tools/planner/dtype.h"
#include "tools/planner/kv_model.h"

namespace kvtier::ctl {

/// Throws Failure: usage, or what is wrong with the file.
plan::KvModel plan_model(const PlanOptions& options);
/// Of the flag, else of the model. Throws Failure.
plan::DType plan_dtype(const PlanOptions& options, const plan::KvModel& model);

}  // namespace kvtier::ctl
