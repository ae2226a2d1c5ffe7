#pragma once
// The command line: global options, and what to run. Each subcommand's file adds itself.

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "tools/kvctl/exit_status.h"

namespace kvtier::ctl {

struct Globals {
  std::string socket;
  bool is_json = false;
  unsigned timeout_s = 10;  ///< for each line of an answer
};

struct CommandLine {
  Globals globals;
  std::function<int()> run;  ///< empty: nothing to run, end with exit_status
  int exit_status = 0;
};

/// Fills `line`, which the subcommand's function refers to: it stays where it is.
void parse_command_line(int argc, const char* const* argv, CommandLine& line);

/// --namespace and --space of one subcommand. Spaces count from 1: 0 would mean all of them.
struct BlockFilterOptions {
  std::string namespace_name;
  std::uint32_t space = 0;  ///< 0: not given
};
void add_filter_options(CLI::App& command, BlockFilterOptions& filter, const std::string& namespace_help);

// One a file of the same name.
void add_clients(CLI::App& app, CommandLine& line);
void add_config_check(CLI::App& app, CommandLine& line);
void add_dump(CLI::App& app, CommandLine& line);
void add_evict(CLI::App& app, CommandLine& line);
void add_sync(CLI::App& app, CommandLine& line);
void add_flush(CLI::App& app, CommandLine& line);
void add_health(CLI::App& app, CommandLine& line);
void add_inspect(CLI::App& app, CommandLine& line);
void add_kick(CLI::App& app, CommandLine& line);
void add_ls(CLI::App& app, CommandLine& line);
void add_namespaces(CLI::App& app, CommandLine& line);
void add_spaces(CLI::App& app, CommandLine& line);
void add_plan(CLI::App& app, CommandLine& line);
void add_probe(CLI::App& app, CommandLine& line);
void add_stat(CLI::App& app, CommandLine& line);
void add_status(CLI::App& app, CommandLine& line);
void add_tree(CLI::App& app, CommandLine& line);
void add_verify(CLI::App& app, CommandLine& line);
void add_version(CLI::App& app, CommandLine& line);

}  // namespace kvtier::ctl
