// The only user of CLI11.

#include "tools/kvsim/command_line.h"

#include <CLI/CLI.hpp>

#include "tools/kvsim/policies.h"

namespace kvtier::sim {
namespace {

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const Policy& policy : policies()) names.emplace_back(policy.name);
  return names;
}

void replay_add(CLI::App& app, ReplayOptions& to) {
  CLI::App* command = app.add_subcommand("replay", "the prefix hits of a trace under a policy");
  command->add_option("trace", to.trace, "JSON lines with hash_ids; .zst is unpacked by zstd")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("--policy", to.policies, "one or more; default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(policy_names()));
  command
      ->add_option("--capacity-pct", to.capacity_percents,
                   "of the different blocks of the trace; one or more")
      ->delimiter(',')
      ->check(CLI::Range(0.0001, 100.0));
  command->add_flag("--json", to.is_json, "a JSON object a line, one for each capacity and policy");
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv) {
  CLI::App app("Replays traces through kvtier's own policies.", "kvsim");
  CommandLine line;
  app.set_version_flag("--version", KVTIER_VERSION);
  app.require_subcommand(1);
  replay_add(app, line.replay);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    line.is_done = true;
    line.exit_status = app.exit(error) == 0 ? 0 : 2;
  }
  return line;
}

}  // namespace kvtier::sim
