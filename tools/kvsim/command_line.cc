// The only user of CLI11, with longcontext_command_line.

#include "tools/kvsim/command_line.h"

#include <CLI/CLI.hpp>

#include "tools/kvsim/longcontext_command_line.h"
#include "tools/kvsim/policies.h"

namespace kvtier::sim {
namespace {

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const Policy& policy : policies()) names.emplace_back(policy.name);
  return names;
}

constexpr std::pair<std::string_view, UseHint> kHintNames[] = {{"tool_call", UseHint::kToolCall},
                                                               {"turn_ended", UseHint::kTurnEnded},
                                                               {"session_ended", UseHint::kSessionEnded}};

void add_hints(const std::vector<std::string>& names, HintSet& to) {
  for (const std::string& name : names) {
    for (const auto& [known, hint] : kHintNames) {
      if (name == known || name == "all") to.add(hint);
    }
  }
}

// What replay and report have both.
template <class Options>
void what_to_replay_add(CLI::App& command, Options& to) {
  command.add_option("trace", to.trace, "JSON lines with hash_ids; .zst is unpacked by zstd")
      ->required()
      ->check(CLI::ExistingFile);
  command.add_option("--policy", to.policies, "one or more; default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(policy_names()));
  command
      .add_option("--capacity-pct", to.capacity_percents, "of the different blocks of the trace; one or more")
      ->delimiter(',')
      ->check(CLI::Range(0.0001, 100.0));
}

void tiers_add(CLI::App& command, TierOptions& to) {
  command
      .add_option("--nvme-pct", to.nvme_percent,
                  "an NVMe tier for so many of the different blocks, under `default`")
      ->check(CLI::Range(0.0001, 1000.0));
  command.add_option("--segment-blocks", to.segment_blocks, "that it reclaims at once")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command.add_option("--block-tokens", to.block_tokens, "of a block of the trace")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command.add_option("--block-bytes", to.block_bytes, "of a block of the trace")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str();
  command.add_option("--host-gb-per-s", to.host_gb_per_s, "from memory to the GPU")
      ->check(CLI::Range(0.001, 1e6))
      ->capture_default_str();
  command.add_option("--nvme-gb-per-s", to.nvme_gb_per_s, "from NVMe to memory")
      ->check(CLI::Range(0.001, 1e6))
      ->capture_default_str();
  command.add_option("--prefill-tokens-per-s", to.prefill_tokens_per_s, "that are computed")
      ->check(CLI::Range(0.001, 1e9))
      ->capture_default_str();
}

CLI::App* replay_add(CLI::App& app, ReplayOptions& to) {
  CLI::App* command = app.add_subcommand("replay", "the prefix hits of a trace under a policy");
  what_to_replay_add(*command, to);
  command->add_option("--capacity-blocks", to.capacity_blocks, "that memory holds, instead of --capacity-pct")
      ->check(CLI::Range(1U, 1U << 30));
  command->add_option("--requests", to.requests, "of the trace, from its beginning; default: all");
  command->add_option("--interval-ms", to.interval_ms, "between requests, instead of the trace's times")
      ->check(CLI::Range(0.000001, 1e9));
  command
      ->add_option_function<std::vector<std::string>>(
          "--hints", [&to](const std::vector<std::string>& names) { add_hints(names, to.hints); },
          "what engines tell when an answer is complete, one or more; default: nothing. Only the policy "
          "`default` weighs it")
      ->delimiter(',')
      ->check(CLI::IsMember({"tool_call", "turn_ended", "session_ended", "all"}));
  tiers_add(*command, to.tiers);
  command->add_flag("--json", to.is_json, "a JSON object a line, one for each capacity and policy");
  return command;
}

CLI::App* report_add(CLI::App& app, ReportOptions& to) {
  CLI::App* command = app.add_subcommand(
      "report", "an HTML file with hits by capacity of all policies, and of the default one with hints");
  what_to_replay_add(*command, to);
  command->add_option("--output", to.output, "the file that is written")->required();
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
  for (int i = 0; i < argc; ++i) line.text += (i == 0 ? "" : " ") + std::string(i == 0 ? "kvsim" : argv[i]);
  app.set_version_flag("--version", KVTIER_VERSION);
  app.require_subcommand(1);
  replay_add(app, line.replay)->callback([&] { line.command = Command::kReplay; });
  report_add(app, line.report)->callback([&] { line.command = Command::kReport; });
  cost_add(app, line.cost)->callback([&] { line.command = Command::kCost; });
  paging_add(app, line.paging)->callback([&] { line.command = Command::kPaging; });
  longcontext_add(app, line.long_context)->callback([&] { line.command = Command::kLongContext; });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    line.command = Command::kNone;
    line.exit_status = app.exit(error) == 0 ? 0 : 2;
  }
  return line;
}

}  // namespace kvtier::sim
