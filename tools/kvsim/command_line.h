#pragma once
// The subcommands and their options.

#include <cstdint>
#include <string>
#include <vector>

#include "tools/kvsim/hint_queue.h"
#include "tools/kvsim/longcontext.h"
#include "tools/kvsim/tiers.h"

namespace kvtier::sim {

struct ReplayOptions {
  std::string trace;
  std::vector<std::string> policies;  ///< empty: all
  std::vector<double> capacity_percents = {1, 5, 10};
  std::uint32_t capacity_blocks = 0;  ///< instead of percents; 0: those
  std::uint64_t requests = 0;         ///< from the beginning; 0: all
  double interval_ms = 0;             ///< between requests; 0: the trace's times
  HintSet hints;
  TierOptions tiers;
  bool is_json = false;
};

struct ReportOptions {
  std::string trace;
  std::string output;
  std::vector<std::string> policies;  ///< empty: all
  std::vector<double> capacity_percents = {0.5, 1, 2, 5, 10, 20, 50};
};

struct CostOptions {
  std::string policy = "default";
  std::uint32_t blocks = 1'000'000;
};

struct PagingOptions {
  std::string trace;
  std::uint32_t block_tokens = 16;
  std::uint64_t pool_tokens = 131'072;
  std::uint64_t max_tokens = 0;  ///< of a sequence; 0: the longest of the trace
  double decode_tokens_per_s = 25;
  bool is_json = false;
};

enum class Command { kNone, kReplay, kReport, kCost, kPaging, kLongContext };

struct CommandLine {
  Command command = Command::kNone;  ///< kNone: done already (--help, --version, a mistake)
  ReplayOptions replay;
  ReportOptions report;
  CostOptions cost;
  PagingOptions paging;
  std::string text;  ///< as it was typed
  LongContextOptions long_context;
  int exit_status = 0;
};

CommandLine parse_command_line(int argc, char** argv);

}  // namespace kvtier::sim
