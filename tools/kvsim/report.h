#pragma once
// What a replay found, as JSON or as a table.

#include <string>
#include <vector>

#include "tools/kvsim/replay.h"

namespace kvtier::sim {

/// One object: `policy`, `capacity_blocks`, `references`, `hits`, `hit_ratio`, and `references_per_s` of this run.
std::string to_json(const ReplayResult& result);

/// A row a capacity, a column a policy: hit ratios.
std::string to_table(const std::vector<ReplayResult>& results);

}  // namespace kvtier::sim
