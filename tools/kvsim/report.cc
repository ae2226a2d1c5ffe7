#include "tools/kvsim/report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace kvtier::sim {
namespace {

double references_per_s(const ReplayResult& result) {
  return result.seconds > 0 ? static_cast<double>(result.references) / result.seconds : 0;
}

std::string cell(const char* format, auto value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// In order of their first appearance.
template <class T>
std::vector<T> distinct(const std::vector<ReplayResult>& results, T ReplayResult::*member) {
  std::vector<T> all;
  for (const ReplayResult& result : results) {
    if (std::find(all.begin(), all.end(), result.*member) == all.end()) all.push_back(result.*member);
  }
  return all;
}

}  // namespace

std::string to_json(const ReplayResult& result) {
  const nlohmann::ordered_json object = {{"policy", result.policy},
                                         {"capacity_blocks", result.capacity_blocks},
                                         {"references", result.references},
                                         {"hits", result.hits},
                                         {"hit_ratio", result.hit_ratio()},
                                         {"hints", result.is_with_hints},
                                         {"references_per_s", references_per_s(result)}};
  return object.dump();
}

std::string to_json(std::string_view policy, const DecisionCost& cost) {
  const nlohmann::ordered_json object = {{"policy", policy},
                                         {"blocks", cost.blocks},
                                         {"decisions", cost.decisions},
                                         {"ns_per_decision", cost.ns_per_decision},
                                         {"evict_p99_ns", cost.evict_p99_ns}};
  return object.dump();
}

std::string to_table(const std::vector<ReplayResult>& results) {
  const std::vector<std::string> names = distinct(results, &ReplayResult::policy);
  std::string text = cell("%10s", "blocks");
  for (const std::string& name : names) text += cell("%9s", name.c_str());
  for (const std::uint32_t capacity : distinct(results, &ReplayResult::capacity_blocks)) {
    text += "\n" + cell("%10u", capacity);
    for (const ReplayResult& result : results) {
      if (result.capacity_blocks == capacity) text += cell("%9.4f", result.hit_ratio());
    }
  }
  return text;
}

}  // namespace kvtier::sim
