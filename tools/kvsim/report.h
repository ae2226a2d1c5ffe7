#pragma once
// What a replay found, as JSON or as a table.

#include <string>
#include <vector>

#include "tools/kvsim/cost.h"
#include "tools/kvsim/paging.h"
#include "tools/kvsim/replay.h"

namespace kvtier::sim {

/// One object: `policy`, `capacity_blocks`, `references`, `hits`, `hit_ratio`, and `references_per_s` of
/// processor time.
std::string to_json(const ReplayResult& result);

/// One object: `policy`, `blocks`, `decisions`, `ns_per_decision`, `evict_p99_ns`.
std::string to_json(std::string_view policy, const DecisionCost& cost);

/// A row a capacity, a column a policy: hit ratios.
std::string to_table(const std::vector<ReplayResult>& results);

/// One object: what was asked for; `utilisation` and `fragmentation` of the paged scheme, `contiguous_utilisation` of the
/// one that reserves the maximum; and `schemes`, an array of objects.
std::string to_json(const PagingReport& report);

/// A row a figure, a column a scheme.
std::string to_table(const PagingReport& report);

}  // namespace kvtier::sim
