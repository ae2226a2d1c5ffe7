// The protocols of libkvclient/wire, and the grace period of a client, under all schedules: as they are they pass; with any order weakened, or
// with any of the listed mistakes, they fail.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <vector>

#include "tests/explore/explorer.h"
#include "tests/explore/scenarios.h"

namespace kvtier::explore {
namespace {

std::vector<Scenario> concatenate(std::vector<std::vector<Scenario>> lists) {
  std::vector<Scenario> all;
  for (auto& list : lists) {
    for (Scenario& scenario : list) all.push_back(std::move(scenario));
  }
  return all;
}

std::vector<Scenario> scenarios() {
  // Small ones first: a mutation is looked for until one scenario fails.
  return concatenate(
      {stock_scenarios(), log_scenarios(), grace_scenarios(), entry_scenarios(), pin_scenarios()});
}

std::vector<Scenario> broken_scenarios() {
  return concatenate({broken_pin_scenarios(), broken_entry_scenarios(), broken_log_scenarios(),
                      broken_grace_scenarios(), broken_stock_scenarios()});
}

struct Mutation {
  OrderSite site;
  std::memory_order weaker;
};

const char* order_name(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_consume:
      return "consume";
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "seq_cst";
  }
  return "unknown";
}

/// The strongest orders that are weaker than the site's. What is weaker still has more behaviours, and fails
/// with them.
std::vector<std::memory_order> weaker_orders(const OrderSite& site) {
  if (site.order == std::memory_order_relaxed) return {};
  if (site.order != std::memory_order_seq_cst) return {std::memory_order_relaxed};
  if (site.access == Access::kLoad) return {std::memory_order_acquire, std::memory_order_relaxed};
  if (site.access == Access::kStore) return {std::memory_order_release, std::memory_order_relaxed};
  return {std::memory_order_acq_rel, std::memory_order_relaxed};
}

std::vector<Mutation> mutations() {
  std::vector<Mutation> all;
  for (const OrderSite& site : kOrderSites) {
    for (const std::memory_order weaker : weaker_orders(site)) all.push_back({site, weaker});
  }
  return all;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// S-05: clients hold no lock in shared memory; a death between any two steps of theirs leaves nothing that another one
// would wait for.
TEST(ProtocolTest, PassesEveryScheduleOfEveryScenario) {
  reset_orders_in_run();
  for (const Scenario& scenario : scenarios()) {
    const auto start = std::chrono::steady_clock::now();
    const Report report = explore(scenario);
    EXPECT_EQ(report.failure, "") << report.trace;
    std::printf("  %-28s %9llu states %6.2f s\n", scenario.name.c_str(),
                static_cast<unsigned long long>(report.state_count), seconds_since(start));
  }
}

TEST(ProtocolTest, ScenariosComeToEverySite) {
  for (const Scenario& scenario : scenarios()) (void)explore(scenario);
  for (const OrderSite& site : kOrderSites) EXPECT_TRUE(was_reached(site.site)) << site.name;
}

TEST(ProtocolTest, EveryWeakerOrderFailsSomewhere) {
  const std::vector<Scenario> all = scenarios();
  for (const Mutation& mutation : mutations()) {
    reset_orders_in_run();
    set_order_in_run(mutation.site.site, mutation.weaker);
    std::string failure;
    for (const Scenario& scenario : all) {
      failure = explore(scenario).failure;
      if (!failure.empty()) break;
    }
    EXPECT_NE(failure, "") << mutation.site.name << " may be " << order_name(mutation.weaker);
    std::printf("  %-16s %-8s -> %-8s %s\n", std::string(mutation.site.name).c_str(),
                order_name(mutation.site.order), order_name(mutation.weaker), failure.c_str());
  }
  reset_orders_in_run();
}

TEST(ProtocolTest, EveryMistakeInTheAlgorithmFails) {
  reset_orders_in_run();
  for (const Scenario& scenario : broken_scenarios()) {
    const Report report = explore(scenario);
    EXPECT_NE(report.failure, "") << scenario.name;
    std::printf("  %s\n", report.failure.c_str());
  }
}

}  // namespace
}  // namespace kvtier::explore
