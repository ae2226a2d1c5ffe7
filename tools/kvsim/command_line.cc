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

CLI::App* replay_add(CLI::App& app, ReplayOptions& to) {
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
  return command;
}

CLI::App* cost_add(CLI::App& app, CostOptions& to) {
  CLI::App* command = app.add_subcommand("cost", "real time of a policy's decisions, as a JSON object");
  command->add_option("--policy", to.policy, "all but min")
      ->check(CLI::IsMember(policy_names()) & !CLI::IsMember({"min"}));
  command->add_option("--blocks", to.blocks, "in memory")->check(CLI::Range(1000, 10'000'000));
  return command;
}

CLI::App* paging_add(CLI::App& app, PagingOptions& to) {
  CLI::App* command = app.add_subcommand(
      "paging", "memory of running requests, paged and contiguous, from a trace of lengths");
  command->add_option("trace", to.trace, "TIMESTAMP,ContextTokens,GeneratedTokens; .zst is unpacked by zstd")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("--block-tokens", to.block_tokens, "of a block")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--pool-tokens", to.pool_tokens, "that memory holds; rounded down to whole blocks")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32))
      ->capture_default_str();
  command
      ->add_option(
          "--max-tokens", to.max_tokens,
          "of a sequence, which `contiguous max` reserves; longer requests are left out. Default: the "
          "longest of the trace")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32));
  command->add_option("--decode-tokens-per-s", to.decode_tokens_per_s, "of each running request")
      ->check(CLI::Range(0.001, 100000.0))
      ->capture_default_str();
  command->add_flag("--json", to.is_json, "one JSON object");
  return command;
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv) {
  CLI::App app("Replays traces through kvtier's own policies.", "kvsim");
  CommandLine line;
  app.set_version_flag("--version", KVTIER_VERSION);
  app.require_subcommand(1);
  replay_add(app, line.replay)->callback([&] { line.command = Command::kReplay; });
  cost_add(app, line.cost)->callback([&] { line.command = Command::kCost; });
  paging_add(app, line.paging)->callback([&] { line.command = Command::kPaging; });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    line.command = Command::kNone;
    line.exit_status = app.exit(error) == 0 ? 0 : 2;
  }
  return line;
}

}  // namespace kvtier::sim
