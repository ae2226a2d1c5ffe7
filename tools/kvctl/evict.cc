// kvctl evict

#include <array>
#include <cstdio>
#include <memory>

#include "libkvclient/base/counted.h"
#include "tools/kvctl/evict_report.h"
#include "tools/kvctl/key_argument.h"
#include "tools/kvctl/progress.h"
#include "tools/kvctl/row_printer.h"
#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

struct EvictOptions {
  std::string key;
  BlockFilterOptions filter;
  bool is_disk_too = false;
};

// The daemon evicts whatever begins with the digits: so the one key that is meant is found first. Of a chain, that
// is its first block: the others hang below it.
std::string whole_key(const Globals& globals, const std::string& text) {
  const KeyArgument argument = parse_key_argument(text);
  AdminClient client(globals);
  if (!argument.last.empty()) (void)find_blocks(client, argument.last);
  return find_blocks(client, argument.first).front().value("key", "");
}

Json evict_request(const Globals& globals, const EvictOptions& options) {
  if (options.key.empty() == options.filter.namespace_name.empty())
    throw Failure(kExitUsage, "usage", "evict needs a KEY, or --namespace (and --space)");
  Json request = filtered("evict", options.filter);
  if (!options.key.empty()) request["key"] = whole_key(globals, options.key);
  if (options.is_disk_too) request["disk"] = true;
  return request;
}

// Every block that stays, under its reason.
std::string kept_text(const Json& report) {
  struct Reason {
    const char* field;
    const char* text;
  };
  static constexpr std::array<Reason, 5> kReasons = {
      {{"kept_pinned", "pinned"},
       {"kept_leased", "leased"},
       {"kept_writing", "being written"},
       {"kept_parents", "held by nobody, but above blocks that stay"},
       {"kept_other", "stored, released, restored or being summed meanwhile"}}};
  if (number(report, "kept") == 0) return "none kept";
  std::string reasons;
  for (const Reason& reason : kReasons) {
    if (number(report, reason.field) == 0) continue;
    reasons += (reasons.empty() ? ": " : ", ") + count(report, reason.field) + " " + reason.text;
  }
  return count(report, "kept") + " kept" + reasons;
}

// Out of memory, and nowhere else.
std::string unsaved_text(const Json& report) {
  const std::uint64_t blocks = report.value("unsaved", std::uint64_t{0});  // an older daemon does not say
  if (blocks == 0) return "";
  return "; " + std::to_string(blocks) + " of them had no copy on disk: gone for good";
}

// Out of memory, and still on disk.
std::string disk_text(const Json& report, bool is_disk_too) {
  const std::uint64_t blocks = number(report, "on_disk");
  if (blocks == 0) return "";
  return "; " + counted(blocks, "block") + (blocks == 1 ? " stays" : " stay") + " on disk" +
         (is_disk_too ? ", above blocks that stay"
                      : ": --disk removes " + std::string(blocks == 1 ? "it" : "them") + " too");
}

}  // namespace

void add_disk_option(CLI::App& command, bool& is_disk_too) {
  command.add_flag(
      "--disk", is_disk_too,
      "off the disk as well, for good, also over a restart; without it copies on disk stay. Of a "
      "namespace or space everything goes then, as by kvc_invalidate: leased and pinned blocks become "
      "misses, what is being written is void. With a KEY held blocks stay");
}

int run_eviction(const Globals& globals, const Json& request) {
  const Json report = request_with_progress(globals, request, [](const Json& progress) {
    std::fprintf(stderr, "\r%s evicted", counted(number(progress, "evicted"), "block").c_str());
  });
  if (globals.is_json) {
    print_answer(report);
  } else {
    std::printf("%s evicted, %s%s%s\n", counted(number(report, "evicted"), "block").c_str(),
                kept_text(report).c_str(), unsaved_text(report).c_str(),
                disk_text(report, request.value("disk", false)).c_str());
  }
  return kExitOk;
}

void add_evict(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<EvictOptions>();
  CLI::App* command = app.add_subcommand("evict",
                                         "drops blocks and what hangs below them from memory; leased and "
                                         "pinned ones stay, and those above them");
  command->add_option("KEY", options->key, kKeyHelp);
  add_filter_options(*command, options->filter, "all of this namespace");
  add_disk_option(*command, options->is_disk_too);
  command->callback([&line, options] {
    line.run = [&line, options] { return run_eviction(line.globals, evict_request(line.globals, *options)); };
  });
}

}  // namespace kvtier::ctl
