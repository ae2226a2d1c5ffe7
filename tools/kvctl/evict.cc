// kvctl evict

#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>

#include "libkvclient/base/counted.h"
#include "tools/kvctl/evict_report.h"
#include "tools/kvctl/key_argument.h"
#include "tools/kvctl/row_printer.h"
#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

struct EvictOptions {
  std::string key;
  BlockFilterOptions filter;
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
       {"kept_other", "stored, released or being summed meanwhile"}}};
  if (number(report, "kept") == 0) return "none kept";
  std::string reasons;
  for (const Reason& reason : kReasons) {
    if (number(report, reason.field) == 0) continue;
    reasons += (reasons.empty() ? ": " : ", ") + count(report, reason.field) + " " + reason.text;
  }
  return count(report, "kept") + " kept" + reasons;
}

}  // namespace

int run_eviction(const Globals& globals, const Json& request) {
  AdminClient client(globals);
  const bool is_shown = ::isatty(STDERR_FILENO) != 0;
  bool is_begun = false;
  const Json report = client.request(request, [&](const Json& line) {
    const auto progress = line.find("progress");
    if (!is_shown || progress == line.end()) return;
    is_begun = true;
    std::fprintf(stderr, "\r%s evicted", counted(number(*progress, "evicted"), "block").c_str());
  });
  if (is_begun) std::fputs("\n", stderr);
  if (globals.is_json) {
    print_answer(report);
  } else {
    std::printf("%s evicted, %s\n", counted(number(report, "evicted"), "block").c_str(),
                kept_text(report).c_str());
  }
  return kExitOk;
}

void add_evict(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<EvictOptions>();
  CLI::App* command = app.add_subcommand(
      "evict", "drops blocks and what hangs below them; leased and pinned ones stay, and those above them");
  command->add_option("KEY", options->key, kKeyHelp);
  add_filter_options(*command, options->filter, "all of this namespace");
  command->callback([&line, options] {
    line.run = [&line, options] { return run_eviction(line.globals, evict_request(line.globals, *options)); };
  });
}

}  // namespace kvtier::ctl
