// kvctl status

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "libkvclient/base/clock.h"
#include "libkvclient/base/counted.h"
#include "tools/kvctl/admin_client.h"
#include "tools/kvctl/row_printer.h"
#include "tools/kvctl/table.h"
#include "tools/kvctl/text.h"
#include "tools/kvctl/whole_number.h"

namespace kvtier::ctl {
namespace {

void print_line(const char* name, const std::string& value) {
  std::printf("%-12s %s\n", name, value.c_str());
}

std::string start_text(const Json& status) {
  const Json& start = status.at("start");
  if (text(start, "kind") == "warm") {
    return "warm: " + counted(number(start, "blocks_adopted"), "block") + " adopted, " +
           count(start, "blocks_dropped") + " dropped, " + count(start, "blocks_unverified") +
           " wait for their checksum";
  }
  const std::string reason = text(start, "reason");
  return text(start, "kind") + " start of host memory" + (reason.empty() ? "" : ": " + reason);
}

std::string with_reason(const std::string& value, const std::string& reason) {
  return reason.empty() ? value : value + " (" + reason + ")";
}

void print_nvme_path(const Json& path) {
  const std::string state = text(path, "state");
  print_line("", text(path, "dir") + " " + with_reason(state, text(path, "cause")));
  if (state == "left_out" || state == "refused") return;
  const std::string direct = path.at("direct").get<bool>() ? "O_DIRECT" : "page cache";
  print_line("", "  " + size(path, "bytes_used") + " used, " + size(path, "bytes_live") + " alive of " +
                     size(path, "bytes") + "; " + count(path, "segments_free") + " of " +
                     count(path, "segments") + " segments of " + size(path, "segment_bytes") + " free; " +
                     text(path, "file_system") + ", " + with_reason(direct, text(path, "direct_reason")) +
                     ", alignment " + count(path, "alignment"));
}

void print_nvme(const Json& tier) {
  const bool is_recovering = text(tier, "state") == "recovering";
  const std::string state =
      is_recovering ? "recovering, " + count(tier, "recovery_done") + " of " + count(tier, "recovery_total")
                    : text(tier, "state");
  if (text(tier, "backend").empty()) {  // no path opened: there is nothing to measure
    print_line("tier nvme", with_reason(state, text(tier, "refusal")));
    for (const Json& path : tier.at("paths")) print_nvme_path(path);
    return;
  }
  print_line("tier nvme", with_reason(state, text(tier, "refusal")) + "; " + size(tier, "bytes_used") +
                              " used, " + size(tier, "bytes_live") + " alive of " + size(tier, "bytes") +
                              "; backend " +
                              with_reason(text(tier, "backend"), text(tier, "backend_reason")) + ", depth " +
                              count(tier, "depth"));
  std::array<char, 16> factor{};
  (void)std::snprintf(factor.data(), factor.size(), "%.2f", tier.at("write_amplification").get<double>());
  const bool is_unlimited = tier.at("budget_left_bytes").is_null();
  print_line("", size(tier, "read_bytes_average") + " a read, " + std::string(factor.data()) +
                     " bytes written for each stored, budget left " +
                     (is_unlimited ? "without limit" : size(tier, "budget_left_bytes")) +
                     ", registered memory " +
                     with_reason(size(tier, "registered_bytes") + " of " + size(tier, "region_bytes"),
                                 text(tier, "unregistered_reason")));
  for (const Json& path : tier.at("paths")) print_nvme_path(path);
}

std::string huge_pages(const Json& tier) {
  if (tier.at("bytes_huge").is_null()) return "taken over from an earlier daemon, huge pages not counted";
  return size(tier, "bytes_huge") + " in huge pages";
}

void print_tier(const Json& tier) {
  if (text(tier, "name") == "nvme") return print_nvme(tier);
  print_line(("tier " + text(tier, "name")).c_str(),
             size(tier, "bytes_used") + " used, " + size(tier, "bytes_free") + " free of " +
                 size(tier, "bytes") + " (" + huge_pages(tier) + ", " + size(tier, "bytes_locked") +
                 " locked); " + counted(number(tier, "blocks_ready"), "block") + ", " +
                 count(tier, "blocks_pinned") + " pinned, " + count(tier, "blocks_writing") +
                 " being written, " + count(tier, "slots_quarantined") + " quarantined; " +
                 count(tier, "slabs_assigned") + " of " + count(tier, "slabs") + " slabs assigned");
}

void print_config(const Json& config, bool is_all) {
  Table table({{"SETTING"}, {"VALUE"}, {"SOURCE"}, {"RELOAD"}});
  for (const Json& row : config) {
    const std::string source = text(row, "source");
    if (!is_all && source == "default") continue;
    const std::string unit = text(row, "unit");
    table.add({text(row, "path"), text(row, "value") + (unit.empty() ? "" : " " + unit), source,
               text(row, "reload")});
  }
  if (!table.is_empty()) std::printf("\n%s", table.text().c_str());
}

void print(const Json& status, bool is_all) {
  print_line("health", text(status, "health"));
  for (const Json& complaint : status.at("complaints"))
    print_line("", "- " + printable(complaint.get<std::string>()));
  print_line("instance", text(status, "instance") + ", kvtierd " + text(status, "version"));
  print_line("process", "pid " + count(status, "pid") + ", uid " + count(status, "uid") + ", up " +
                            duration_ms(status, "uptime_ms"));
  print_line("start", start_text(status));
  print_line("fd store", text(status, "fd_store"));
  print_line("clients",
             count(status, "clients") + ", " + count(status, "zombies") + " disconnected and still running");
  for (const Json& tier : status.at("tiers")) print_tier(tier);
  print_line("overhead", size(status, "metadata_bytes") + " of index and tables, " +
                             size(status, "channel_bytes") + " of channels");
  print_line("counters", text(status, "counters_path"));
  print_config(status.at("config"), is_all);
}

struct StatusOptions {
  bool is_all = false;
  unsigned wait_s = 0;
};

constexpr TimeNs kAgainNs = 50 * kNsPerMs;

bool is_reading_disk(const Json& status) {
  for (const Json& tier : status.at("tiers")) {
    const std::string state = tier.contains("state") ? text(tier, "state") : "";
    if (state == "waiting" || state == "recovering") return true;
  }
  return false;
}

// Asks again while there is no daemon that answers, or it still reads what is on disk, as one that was just started.
Json ask(const Globals& globals, unsigned wait_s) {
  const SystemClock clock;
  const TimeNs until_ns = clock.now_ns() + wait_s * kNsPerSecond;
  while (true) {
    try {
      AdminClient client(globals);
      Json status = client.request({{"verb", "status"}});
      if (!is_reading_disk(status) || clock.now_ns() + kAgainNs > until_ns) return status;
    } catch (const Failure& failure) {
      if (failure.exit_status != kExitDown || clock.now_ns() + kAgainNs > until_ns) throw;
    }
    std::this_thread::sleep_for(std::chrono::nanoseconds(kAgainNs));
  }
}

int run_status(const Globals& globals, const StatusOptions& options) {
  try {
    const Json status = ask(globals, options.wait_s);
    if (globals.is_json) {
      print_answer(status);
    } else {
      print(status, options.is_all);
    }
    return text(status, "health") == "ok" ? kExitOk : kExitDegraded;
  } catch (const Failure& failure) {
    if (failure.exit_status != kExitDown || !globals.is_json) throw;
    print_json({{"health", "down"}, {"error", {{"code", failure.code}, {"message", failure.what()}}}});
    std::fprintf(stderr, "kvctl: %s\n", failure.what());
    return kExitDown;
  }
}

}  // namespace

void add_status(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* command =
      app.add_subcommand("status", "health, tiers, clients, settings; 0 ok, 1 degraded, 2 down");
  command->add_flag("-a,--all", options->is_all, "settings that have their default value too");
  command->add_option("-w,--wait", options->wait_s, "so many seconds for a daemon that is being started")
      ->check(whole_number(0, 3600));
  command->callback(
      [&line, options] { line.run = [&line, options] { return run_status(line.globals, *options); }; });
}

}  // namespace kvtier::ctl
