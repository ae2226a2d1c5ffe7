// kvctl verify: has a running daemon read and check all that it has on disk.

#include <cstdio>

#include "libkvclient/base/counted.h"
#include "tools/kvctl/progress.h"
#include "tools/kvctl/row_printer.h"
#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

void show_progress(const Json& report) {
  std::fprintf(stderr, "\r%s of %s segments, %s good, %s bad, %s read ",
               count(report, "segments_done").c_str(), count(report, "segments").c_str(),
               counted(number(report, "blocks_good"), "block").c_str(), count(report, "blocks_bad").c_str(),
               size(report, "bytes").c_str());
}

// "3 blocks bad: header_damaged 1, payload_damaged 1, unreadable 1"
std::string bad_text(const Json& report) {
  if (number(report, "blocks_bad") == 0) return "none bad";
  std::string causes;
  const auto add = [&](const std::string& cause, std::uint64_t n) {
    if (n != 0) causes += (causes.empty() ? ": " : ", ") + printable(cause) + " " + std::to_string(n);
  };
  for (const auto& [cause, n] : report.at("faults").items()) add(cause, n.get<std::uint64_t>());
  add("unreadable", number(report, "unreadable"));
  return count(report, "blocks_bad") + " bad" + causes;
}

void print_rest(const Json& report, const char* field, const char* what) {
  if (number(report, field) != 0) std::printf("%s %s\n", count(report, field).c_str(), what);
}

void print(const Json& report) {
  std::printf("%s good, %s; %s read\n", counted(number(report, "blocks_good"), "block").c_str(),
              bad_text(report).c_str(), size(report, "bytes").c_str());
  print_rest(report, "unreadable", "of them unreadable: dropped if the next read fails too");
  print_rest(report, "marks_bad", "bad marks of what was invalidated: that may come back at a restart");
  print_rest(report, "too_large", "not judged: larger than host.slab_bytes lets a block be now");
  print_rest(report, "late", "not judged: the device did not answer in time");
  print_rest(report, "segments_unreachable",
             "segments not looked at: their path does not serve, see kvctl status");
  print_rest(report, "segments_unindexed",
             "segments not looked at: no list of their blocks, which the next start makes");
  if (text(report, "state") == "stopped")
    std::printf("stopped after %s of %s segments: the daemon is ending\n",
                count(report, "segments_done").c_str(), count(report, "segments").c_str());
}

bool is_right(const Json& report) {
  for (const char* field :
       {"blocks_bad", "marks_bad", "too_large", "late", "segments_unreachable", "segments_unindexed"}) {
    if (number(report, field) != 0) return false;
  }
  return text(report, "state") == "done";
}

int run_verify(const Globals& globals) {
  const Json report = request_with_progress(globals, {{"verb", "verify"}}, show_progress);
  if (globals.is_json) {
    print_answer(report);
  } else {
    print(report);
  }
  return is_right(report) ? kExitOk : kExitDegraded;
}

}  // namespace

void add_verify(CLI::App& app, CommandLine& line) {
  CLI::App* command =
      app.add_subcommand("verify", "the daemon reads and checks every block on disk; 0 all good, 1 not");
  command->footer(
      "A block that is bad is dropped: a miss from then on. The work goes on beside all other, one small "
      "batch at a\n"
      "time, and ends when this program does. One verify at a time. Offline: kvctl dump --check.");
  command->callback([&line] { line.run = [&line] { return run_verify(line.globals); }; });
}

}  // namespace kvtier::ctl
