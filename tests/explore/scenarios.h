#pragma once
// The small programs that the explorer runs. The first four lists must pass; those of broken_* carry one
// mistake in the algorithm each and must fail.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/explore/machine.h"

namespace kvtier::explore {

std::vector<Scenario> pin_scenarios();
std::vector<Scenario> entry_scenarios();
std::vector<Scenario> log_scenarios();
std::vector<Scenario> grace_scenarios();
std::vector<Scenario> stock_scenarios();
std::vector<Scenario> broken_pin_scenarios();
std::vector<Scenario> broken_entry_scenarios();
std::vector<Scenario> broken_log_scenarios();
std::vector<Scenario> broken_grace_scenarios();
std::vector<Scenario> broken_stock_scenarios();

/// Makes the cells of a World, then the programs over it: `programs(std::shared_ptr<World>)`.
template <class World, class Programs>
Scenario make_scenario(std::string name, Programs&& programs, std::uint32_t mortal_processes = 0) {
  begin_world();
  auto world = std::make_shared<World>();
  return {std::move(name), programs(world), initial_values(), mortal_processes};
}

}  // namespace kvtier::explore
