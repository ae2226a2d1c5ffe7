// kvsim: replays traces and decodes through the daemon's own policies. Exit status: 0 done; 2 usage, or the trace cannot
// be read.

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "tools/kvsim/command_line.h"
#include "tools/kvsim/html_report.h"
#include "tools/kvsim/longcontext_report.h"
#include "tools/kvsim/report.h"
#include "tools/traces/trace_file.h"

namespace kvtier::sim {
namespace {

std::vector<const Policy*> chosen_policies(const std::vector<std::string>& names) {
  std::vector<const Policy*> chosen;
  chosen.reserve(names.size());
  for (const std::string& name : names) chosen.push_back(find_policy(name));
  if (!chosen.empty()) return chosen;
  for (const Policy& policy : policies()) chosen.push_back(&policy);
  return chosen;
}

std::vector<std::uint32_t> capacities(const Trace& trace, const ReplayOptions& options) {
  if (options.capacity_blocks > 0) return {options.capacity_blocks};
  std::vector<std::uint32_t> blocks;
  for (const double percent : options.capacity_percents) blocks.push_back(capacity_of(trace, percent));
  return blocks;
}

int run_replay(const ReplayOptions& options) {
  const std::vector<const Policy*> policies = chosen_policies(options.policies);
  if (options.tiers.nvme_percent > 0 && !std::ranges::all_of(policies, &Policy::is_tree)) {
    std::fprintf(stderr, "kvsim: --nvme-pct is for the daemon's own policy: add --policy default\n");
    return 2;
  }
  Result<Trace> trace = read_trace(options.trace);
  if (!trace.is_ok()) {
    std::fprintf(stderr, "kvsim: %s\n", trace.status().to_string().c_str());
    return 2;
  }
  cut(trace.value(), options.requests);
  if (options.interval_ms > 0) pace(trace.value(), options.interval_ms);
  std::vector<ReplayResult> results;
  for (const std::uint32_t capacity : capacities(trace.value(), options)) {
    for (const Policy* policy : policies) {
      results.push_back(replay(trace.value(), *policy, capacity, options.hints, options.tiers));
      if (options.is_json) std::printf("%s\n", to_json(results.back()).c_str());
    }
  }
  if (!options.is_json) std::printf("%s\n", to_table(results).c_str());
  return std::fflush(stdout) == 0 ? 0 : 2;
}

// The policy once more, where it weighs hints and the trace has some.
void report_on(const Trace& trace, const Policy& policy, double percent, Report& report) {
  const std::uint32_t capacity = capacity_of(trace, percent);
  report.cells.push_back({percent, replay(trace, policy, capacity)});
  const HintSet hints = hints_of(trace);
  if (policy.is_tree && !hints.is_empty())
    report.cells.push_back({percent, replay(trace, policy, capacity, hints)});
  std::fprintf(stderr, "kvsim: %s at %g %%\n", std::string(policy.name).c_str(), percent);
}

int cannot_write(const std::string& path) {
  std::fprintf(stderr, "kvsim: %s cannot be written\n", path.c_str());
  return 2;
}

int run_report(const ReportOptions& options, const std::string& command) {
  const Result<Trace> trace = read_trace(options.trace);
  if (!trace.is_ok()) {
    std::fprintf(stderr, "kvsim: %s\n", trace.status().to_string().c_str());
    return 2;
  }
  std::ofstream file(options.output, std::ios::binary);
  if (!file) return cannot_write(options.output);
  Report report{.trace = options.trace,
                .command = command,
                .requests = trace.value().requests.size(),
                .unique_blocks = trace.value().unique,
                .cells = {}};
  std::vector<double> percents = options.capacity_percents;
  std::ranges::sort(percents);
  for (const double percent : percents) {
    for (const Policy* policy : chosen_policies(options.policies))
      report_on(trace.value(), *policy, percent, report);
  }
  file << to_html(report) << std::flush;
  return file ? 0 : cannot_write(options.output);
}

int run_cost(const CostOptions& options) {
  std::printf("%s\n",
              to_json(options.policy, measure_cost(*find_policy(options.policy), options.blocks)).c_str());
  return std::fflush(stdout) == 0 ? 0 : 2;
}

int run_paging(const PagingOptions& options) {
  const Result<PagingReport> report = compare_paging(options);
  if (!report.is_ok()) {
    std::fprintf(stderr, "kvsim: %s\n", report.status().to_string().c_str());
    return 2;
  }
  const std::string text = options.is_json ? to_json(report.value()) : to_table(report.value());
  std::printf("%s\n", text.c_str());
  return std::fflush(stdout) == 0 ? 0 : 2;
}

}  // namespace
}  // namespace kvtier::sim

int main(int argc, char** argv) {
  using namespace kvtier::sim;
  const CommandLine line = parse_command_line(argc, argv);
  switch (line.command) {
    case Command::kReplay:
      return run_replay(line.replay);
    case Command::kReport:
      return run_report(line.report, line.text);
    case Command::kCost:
      return run_cost(line.cost);
    case Command::kPaging:
      return run_paging(line.paging);
    case Command::kLongContext:
      return run_long_context(line.long_context) ? 0 : 2;
    case Command::kNone:
      break;
  }
  return line.exit_status;
}
