#include "tools/kvsim/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace kvtier::sim {
namespace {

double references_per_s(const ReplayResult& result) {
  return result.seconds > 0 ? static_cast<double>(result.references) / result.seconds : 0;
}

std::string cell(const char* format, auto value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

nlohmann::ordered_json to_object(const TierCosts& costs) {
  return {{"nvme_blocks", costs.nvme_blocks},     {"hits_host", costs.hits_host},
          {"hits_nvme", costs.hits_nvme},         {"bytes_restored", costs.bytes_restored},
          {"bytes_written", costs.bytes_written}, {"write_amplification", costs.write_amplification},
          {"ttft_ms_mean", costs.ttft_ms_mean},   {"ttft_ms_p50", costs.ttft_ms_p50},
          {"ttft_ms_p99", costs.ttft_ms_p99},     {"ttft_ms_mean_uncached", costs.ttft_ms_mean_uncached}};
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
  nlohmann::ordered_json object = {{"policy", result.policy},
                                   {"capacity_blocks", result.capacity_blocks},
                                   {"references", result.references},
                                   {"hits", result.hits},
                                   {"hit_ratio", result.hit_ratio()},
                                   {"hints", result.is_with_hints},
                                   {"references_per_s", references_per_s(result)}};
  if (result.tiers) object.update(to_object(*result.tiers));
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

namespace {

// Where nobody waited there is no such figure: null in JSON, a dash in the table.
double while_waiting(const PagingResult& result, double share) {
  return result.waiting_share > 0 ? share : std::nan("");
}

nlohmann::ordered_json to_object(const PagingResult& result) {
  return {{"scheme", result.scheme},
          {"utilisation", result.utilisation},
          {"fragmentation", result.fragmentation()},
          {"reserved", result.reserved},
          {"unused", result.unused},
          {"utilisation_step_mean", result.utilisation_step_mean},
          {"utilisation_request_mean", result.utilisation_request_mean},
          {"waiting_share", result.waiting_share},
          {"pool_utilisation", while_waiting(result, result.pool_utilisation)},
          {"pool_free", while_waiting(result, result.pool_free)},
          {"pool_shattered", while_waiting(result, result.pool_shattered)},
          {"running_mean", result.running_mean},
          {"running_max", result.running_max},
          {"wait_mean_s", result.wait_mean_s},
          {"makespan_s", result.makespan_s},
          {"preemptions", result.preemptions},
          {"recomputed_tokens", result.recomputed_tokens}};
}

struct PagingRow {
  const char* name;
  const char* format;
  double (*value)(const PagingResult& result);
};

constexpr PagingRow kPagingRows[] = {
    {"of what is allocated, %", nullptr, nullptr},
    {"  utilisation", "%20.2f", [](const PagingResult& is) { return 100 * is.utilisation; }},
    {"  fragmentation", "%20.2f", [](const PagingResult& is) { return 100 * is.fragmentation(); }},
    {"    reserved", "%20.2f", [](const PagingResult& is) { return 100 * is.reserved; }},
    {"    unused", "%20.2f", [](const PagingResult& is) { return 100 * is.unused; }},
    {"  utilisation, step mean", "%20.2f",
     [](const PagingResult& is) { return 100 * is.utilisation_step_mean; }},
    {"  utilisation, request mean", "%20.2f",
     [](const PagingResult& is) { return 100 * is.utilisation_request_mean; }},
    {"of the pool while some wait, %", nullptr, nullptr},
    {"  utilisation", "%20.2f",
     [](const PagingResult& is) { return 100 * while_waiting(is, is.pool_utilisation); }},
    {"  free", "%20.2f", [](const PagingResult& is) { return 100 * while_waiting(is, is.pool_free); }},
    {"    shattered", "%20.2f",
     [](const PagingResult& is) { return 100 * while_waiting(is, is.pool_shattered); }},
    {"steps in which some wait, %", "%20.2f", [](const PagingResult& is) { return 100 * is.waiting_share; }},
    {"running, mean", "%20.1f", [](const PagingResult& is) { return is.running_mean; }},
    {"running, most", "%20.0f", [](const PagingResult& is) { return static_cast<double>(is.running_max); }},
    {"wait, mean, s", "%20.2f", [](const PagingResult& is) { return is.wait_mean_s; }},
    {"end of the last, s", "%20.0f", [](const PagingResult& is) { return is.makespan_s; }},
    {"preemptions", "%20.0f", [](const PagingResult& is) { return static_cast<double>(is.preemptions); }},
    {"tokens computed again", "%20.0f",
     [](const PagingResult& is) { return static_cast<double>(is.recomputed_tokens); }}};

}  // namespace

std::string to_json(const PagingReport& report) {
  nlohmann::ordered_json object = {{"trace", report.trace},
                                   {"requests", report.requests},
                                   {"left_out", report.left_out},
                                   {"block_tokens", report.block_tokens},
                                   {"pool_tokens", report.pool_tokens},
                                   {"max_tokens", report.max_tokens},
                                   {"decode_tokens_per_s", report.decode_tokens_per_s},
                                   {"utilisation", report.paged().utilisation},
                                   {"fragmentation", report.paged().fragmentation()},
                                   {"contiguous_utilisation", report.reserved_to_the_maximum().utilisation}};
  for (const PagingResult& result : report.schemes) object["schemes"].push_back(to_object(result));
  return object.dump();
}

std::string to_table(const PagingReport& report) {
  std::string text = cell("%llu requests", static_cast<unsigned long long>(report.requests)) +
                     cell(", %llu left out", static_cast<unsigned long long>(report.left_out)) +
                     cell("; blocks of %u tokens", report.block_tokens) +
                     cell(", a pool of %llu", static_cast<unsigned long long>(report.pool_tokens)) +
                     cell(", sequences of at most %llu", static_cast<unsigned long long>(report.max_tokens)) +
                     cell("; %g tokens/s a request", report.decode_tokens_per_s) + "\n" + cell("%-31s", "");
  for (const PagingResult& result : report.schemes) text += cell("%20s", result.scheme.c_str());
  for (const PagingRow& row : kPagingRows) {
    text += "\n" + cell("%-31s", row.name);
    for (const PagingResult& result : report.schemes) {
      if (row.value == nullptr) continue;
      const double value = row.value(result);
      text += std::isnan(value) ? cell("%20s", "-") : cell(row.format, value);
    }
  }
  return text;
}

}  // namespace kvtier::sim
