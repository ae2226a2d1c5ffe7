#pragma once
// The policies by name.

#include <memory>
#include <span>
#include <string_view>

#include "daemon/model/block_table.h"
#include "daemon/policy/evictor.h"

namespace kvtier::sim {

struct Policy {
  std::string_view name;
  /// Null: not an evictor (`min` looks ahead).
  std::unique_ptr<Evictor> (*make)(BlockTable& blocks);
  /// Blocks enter under their parents, and a parent stays as long as a child does; else they are on their own.
  bool is_tree = false;
};

std::span<const Policy> policies();
/// Null when there is none.
const Policy* find_policy(std::string_view name);

}  // namespace kvtier::sim
