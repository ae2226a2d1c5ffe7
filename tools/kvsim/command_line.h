#pragma once
// The subcommands and their options.

#include <string>
#include <vector>

namespace kvtier::sim {

struct ReplayOptions {
  std::string trace;
  std::vector<std::string> policies;  ///< empty: all
  std::vector<double> capacity_percents = {1, 5, 10};
  bool is_json = false;
};

struct CommandLine {
  ReplayOptions replay;
  bool is_done = false;  ///< --help, --version, or a mistake
  int exit_status = 0;
};

CommandLine parse_command_line(int argc, char** argv);

}  // namespace kvtier::sim
