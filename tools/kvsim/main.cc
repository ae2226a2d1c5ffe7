// kvsim: replays traces through the daemon's own policies. Exit status: 0 done; 2 usage, or the trace cannot be read.

#include <cstdio>

#include "tools/kvsim/command_line.h"
#include "tools/kvsim/report.h"
#include "tools/traces/trace_file.h"

namespace kvtier::sim {
namespace {

std::vector<const Policy*> chosen_policies(const ReplayOptions& options) {
  std::vector<const Policy*> chosen;
  for (const std::string& name : options.policies) chosen.push_back(find_policy(name));
  if (!chosen.empty()) return chosen;
  for (const Policy& policy : policies()) chosen.push_back(&policy);
  return chosen;
}

int run_replay(const ReplayOptions& options) {
  const Result<Trace> trace = read_trace(options.trace);
  if (!trace.is_ok()) {
    std::fprintf(stderr, "kvsim: %s\n", trace.status().to_string().c_str());
    return 2;
  }
  std::vector<ReplayResult> results;
  for (const double percent : options.capacity_percents) {
    for (const Policy* policy : chosen_policies(options)) {
      results.push_back(replay(trace.value(), *policy, capacity_of(trace.value(), percent)));
      if (options.is_json) std::printf("%s\n", to_json(results.back()).c_str());
    }
  }
  if (!options.is_json) std::printf("%s\n", to_table(results).c_str());
  return std::fflush(stdout) == 0 ? 0 : 2;
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
    case Command::kCost:
      return run_cost(line.cost);
    case Command::kPaging:
      return run_paging(line.paging);
    case Command::kNone:
      break;
  }
  return line.exit_status;
}
