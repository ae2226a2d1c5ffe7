// kvctl stat: live from the mapped counters file.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>

#include "libkvclient/base/counted.h"
#include "libkvclient/base/units.h"
#include "tools/kvctl/command_line.h"
#include "tools/kvctl/output.h"
#include "tools/kvctl/row_printer.h"
#include "tools/kvctl/stat_sample.h"
#include "tools/kvctl/table.h"
#include "tools/kvctl/text.h"
#include "tools/kvctl/whole_number.h"

namespace kvtier::ctl {
namespace {

struct StatOptions {
  std::string file;
  std::string interval;
  std::uint64_t count = 0;  ///< 0: one sample, or without end with an interval
  bool is_all = false;
  std::vector<std::string> names;
};

bool is_named(const StatOptions& options, const std::string& name) {
  if (options.names.empty()) return true;
  return std::ranges::any_of(options.names,
                             [&](const std::string& prefix) { return name.starts_with(prefix); });
}

// A mistyped name is no counter that is 0.
void check_names(const StatSample& sample, const StatOptions& options) {
  for (const std::string& name : options.names) {
    const auto is_of_it = [&](const CounterSample& counter) { return counter.name.starts_with(name); };
    if (!std::ranges::any_of(sample.counters, is_of_it))
      throw Failure(kExitFailed, "not_found",
                    "no counter begins with " + printable(name) + "; kvctl stat --all lists them");
  }
}

Json json_of(const StatSample& sample, const StatOptions& options) {
  Json counters = Json::object();
  for (const CounterSample& counter : sample.counters)
    if (is_named(options, counter.name)) counters[counter.name] = counter.value;
  Json errors = Json::array();
  for (const ErrorSample& error : sample.errors)
    errors.push_back({{"text", error.text}, {"count", error.count}});
  return {{"instance", sample.identity.instance}, {"version", sample.identity.program_version},
          {"pid", sample.identity.pid},           {"running", sample.is_running},
          {"hanging", sample.is_hanging()},       {"heartbeat_age_ms", sample.heartbeat_age_ns / kNsPerMs},
          {"monotonic_ns", sample.now_ns},        {"counters", std::move(counters)},
          {"errors", std::move(errors)}};
}

std::string value_text(const CounterSample& counter) {
  if (counter.unit == "bytes") return format_size(counter.value);
  if (counter.unit == "ns") return format_duration(counter.value);
  return std::to_string(counter.value) + (counter.unit.empty() ? "" : " " + counter.unit);
}

// Change a second since the last sample of the same process; "" where there is none.
std::string rate_text(const CounterSample& counter, const StatSample& sample, const StatSample* before) {
  if (before == nullptr || counter.kind != CounterKind::kCounter ||
      before->identity.start_monotonic_ns != sample.identity.start_monotonic_ns)
    return "";
  const auto old = std::ranges::find(before->counters, counter.name, &CounterSample::name);
  if (old == before->counters.end() || counter.value <= old->value) return "";
  const double seconds = static_cast<double>(sample.now_ns - before->now_ns) / 1e9;
  const double rate = static_cast<double>(counter.value - old->value) / seconds;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f/s", rate);
  return counter.unit == "bytes" ? format_size(static_cast<std::uint64_t>(rate)) + "/s" : text;
}

void print(const StatSample& sample, const StatSample* before, const StatOptions& options) {
  std::printf("%s, pid %u, last round %s ago%s\n", printable(sample.identity.instance).c_str(),
              sample.identity.pid, format_duration(sample.heartbeat_age_ns).c_str(),
              sample.is_running ? "" : ", not running");
  Table table({{"COUNTER"}, {"VALUE", true}, {"RATE", true}, {"MEANING"}});
  for (const CounterSample& counter : sample.counters) {
    const bool is_shown = options.is_all || counter.value != 0 || !options.names.empty();
    if (is_shown && is_named(options, counter.name))
      table.add({counter.name, value_text(counter), rate_text(counter, sample, before), counter.help});
  }
  std::fputs(table.text().c_str(), stdout);
  for (const ErrorSample& error : sample.errors)
    std::printf("error, %s: %s\n", counted(error.count, "time").c_str(), printable(error.text).c_str());
}

int exit_status(const StatSample& sample) {
  if (!sample.is_running) {
    std::fprintf(stderr, "kvctl: pid %u is gone: these are its last numbers; start kvtierd\n",
                 sample.identity.pid);
    return kExitDown;
  }
  if (!sample.is_hanging()) return kExitOk;
  std::fprintf(stderr, "kvctl: the conductor has not moved for %s: it hangs\n",
               format_duration(sample.heartbeat_age_ns).c_str());
  return kExitDegraded;
}

int run_stat(const Globals& globals, const StatOptions& options) {
  std::string path = options.file;
  if (path.empty()) path = std::filesystem::path(globals.socket).parent_path() / "counters";
  const TimeNs interval_ns = options.interval.empty() ? 0 : parse_interval(options.interval);
  const std::uint64_t count = options.count == 0 && interval_ns == 0 ? 1 : options.count;
  std::unique_ptr<StatSample> before;
  for (std::uint64_t i = 1;; ++i) {
    auto sample = std::make_unique<StatSample>(take_stat_sample(path));
    check_names(*sample, options);
    if (globals.is_json) {
      print_json(json_of(*sample, options));
    } else {
      print(*sample, before.get(), options);
    }
    finish_output();
    if (i == count) return exit_status(*sample);
    before = std::move(sample);
    std::this_thread::sleep_for(std::chrono::nanoseconds(interval_ns == 0 ? kNsPerSecond : interval_ns));
  }
}

}  // namespace

void add_stat(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<StatOptions>();
  CLI::App* command =
      app.add_subcommand("stat", "counters, read without the daemon's help, even while it hangs");
  command->add_option("NAME", options->names, "only counters that begin so");
  command->add_option("-f,--file", options->file, "counters file; else `counters` beside the socket");
  command->add_option("-i,--interval", options->interval, "again each so often, with rates: 1, 500ms, 1min");
  command->add_option("-c,--count", options->count, "so many samples")->check(whole_number(0));
  command->add_flag("-a,--all", options->is_all, "counters that are 0 too");
  command->callback(
      [&line, options] { line.run = [&line, options] { return run_stat(line.globals, *options); }; });
}

}  // namespace kvtier::ctl
