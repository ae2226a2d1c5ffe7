// kvctl sync: what is in memory alone is written to disk, and is durable when this ends.

#include <cstdio>
#include <memory>

#include "libkvclient/base/counted.h"
#include "tools/kvctl/progress.h"
#include "tools/kvctl/row_printer.h"
#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

struct SyncOptions {
  BlockFilterOptions filter;
  bool is_all = false;
};

Json sync_request(const SyncOptions& options) {
  if (options.is_all != options.filter.namespace_name.empty())
    throw Failure(kExitUsage, "usage", "sync needs --namespace (and --space), or --all");
  Json request = filtered("sync", options.filter);
  if (options.is_all) request["all"] = true;
  return request;
}

void print(const Json& report) {
  std::printf("%s durable", counted(number(report, "durable"), "block").c_str());
  if (number(report, "unsaved") != 0) std::printf(", %s not", count(report, "unsaved").c_str());
  const std::string reason = printable(text(report, "reason"));
  std::printf("%s%s\n", reason.empty() ? "" : ": ", reason.c_str());
}

int run_sync(const Globals& globals, const Json& request) {
  const Json report = request_with_progress(globals, request, [](const Json& progress) {
    std::fprintf(stderr, "\r%s on disk ", counted(number(progress, "durable"), "block").c_str());
  });
  if (globals.is_json) {
    print_answer(report);
  } else {
    print(report);
  }
  return text(report, "code") == "ok" ? kExitOk : kExitDegraded;
}

}  // namespace

void add_sync(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<SyncOptions>();
  CLI::App* command = app.add_subcommand(
      "sync", "writes what is in memory alone to disk; 0 when all of it outlives a power cut, 1 when not");
  add_filter_options(*command, options->filter, "this namespace");
  command->add_flag("--all", options->is_all, "every namespace");
  command->footer(
      "Every block that was committed before is on disk and behind an fdatasync when this ends with 0; else "
      "the "
      "answer says\n"
      "how many are not, and why. Memory stays as it is. The work goes on when this program is ended.");
  command->callback([&line, options] {
    line.run = [&line, options] { return run_sync(line.globals, sync_request(*options)); };
  });
}

}  // namespace kvtier::ctl
