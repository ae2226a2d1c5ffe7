// kvctl flush

#include <memory>

#include "tools/kvctl/evict_report.h"

namespace kvtier::ctl {
namespace {

struct FlushOptions {
  BlockFilterOptions filter;
  bool is_all = false;
  bool is_disk_too = false;
};

Json flush_request(const FlushOptions& options) {
  if (options.is_all != options.filter.namespace_name.empty())
    throw Failure(kExitUsage, "usage", "flush needs --namespace (and --space), or --all");
  Json request = filtered("flush", options.filter);
  if (options.is_all) request["all"] = true;
  if (options.is_disk_too) request["disk"] = true;
  return request;
}

}  // namespace

void add_flush(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<FlushOptions>();
  CLI::App* command =
      app.add_subcommand("flush", "empties memory of a namespace, a space or everything, step by step");
  add_filter_options(*command, options->filter, "this namespace");
  command->add_flag("--all", options->is_all, "every namespace");
  add_disk_option(*command, options->is_disk_too);
  command->callback([&line, options] {
    line.run = [&line, options] { return run_eviction(line.globals, flush_request(*options)); };
  });
}

}  // namespace kvtier::ctl
