// kvbench trace: replays a trace of prefix block hashes against a daemon with an NVMe tier, and says what reached the
// disk: how much, of what kind, how much of the budget, how much room it took. No reference: the bars are absolute.

#include "tools/kvbench/trace.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "libkvclient/base/units.h"
#include "tools/kvbench/nvme.h"
#include "tools/kvbench/support/failure.h"
#include "tools/kvbench/support/process_stats.h"
#include "tools/kvbench/support/resident_blocks.h"

namespace kvtier::bench {
namespace {

constexpr TimeNs kPatienceNs = 30 * kNsPerSecond;
constexpr std::uint64_t kQuickRequests = 500;

/// The rows of the write amplification: counters nvme_written_NAME.
constexpr const char* kCauses[] = {"payloads", "headers",  "marks",       "moves", "segments",
                                   "footers",  "erasures", "superblocks", "probes"};

class Trace {
 public:
  Trace(const TraceOptions& options, const Common& common) : options_(options), place_(options.folder) {
    need(common.socket.empty(), "trace needs a daemon of its own: leave --socket out");
    if (common.is_quick)
      options_.requests =
          std::min(options_.requests == 0 ? kQuickRequests : options_.requests, kQuickRequests);
  }

  Report run() {
    const DaemonProcess daemon(
        {.host_bytes = pool_bytes(options_.host_blocks, options_.block_bytes), .config = config()});
    const TimeNs start = now_ns();
    Child([&] { trace_replay_run(options_, place_.path(), daemon, *board_); }).join();
    const DaemonCounters counters = daemon.counters();
    wait_until_quiet(counters);
    const TimeNs elapsed_ns = now_ns() - start;
    need(board_->requests > 0, "the trace has no request in it");
    if (board_->failed > 0)
      std::fprintf(stderr, "kvbench: first failure: %s\n", board_->first_failure.data());
    Report report("trace");
    report.count_errors(board_->wrong + board_->failed);
    add_setting(report);
    add_replay(report);
    add_daemon(report, counters);
    add_written(report, counters, process_written_bytes(daemon.pid()), elapsed_ns);
    return report;
  }

 private:
  [[nodiscard]] std::uint64_t segment_bytes() const {
    constexpr std::uint64_t kSegments = 24;
    const std::uint64_t blocks = std::max(4 * kMiB, round_up(4 * options_.block_bytes, 64 * kKiB));
    return std::clamp(options_.disk_bytes / kSegments / kMiB * kMiB, blocks, std::max(blocks, 256 * kMiB));
  }

  // Index and directories have room for every block that may lie on disk.
  [[nodiscard]] std::string config() const {
    if (options_.disk_bytes == 0) return {};
    const std::uint64_t names = options_.disk_bytes / round_up(options_.block_bytes, 4096);
    return "nvme:\n  segment_bytes: " + std::to_string(segment_bytes()) +
           "B\n  blocks_max: " + std::to_string(names) +
           "\n  write_budget_bytes_per_day: " + std::to_string(options_.budget_bytes_per_day) +
           "B\n  paths:\n    - {dir: " + place_.path() + ", bytes: " + std::to_string(options_.disk_bytes) +
           "B}\n";
  }

  static std::uint64_t written_bytes(const DaemonCounters& counters) {
    std::uint64_t bytes = 0;
    for (const char* cause : kCauses) bytes += counters.value(std::string("nvme_written_") + cause);
    return bytes;
  }

  // Counters of the tier are published a few times a second, and blocks may be on their way still.
  static void wait_until_quiet(const DaemonCounters& counters) {
    const TimeNs end = now_ns() + kPatienceNs;
    for (std::uint64_t last = ~std::uint64_t{0};;) {
      const std::uint64_t now = written_bytes(counters);
      if (now == last && counters.value("disk_bytes_writing") == 0) return;
      need(now_ns() < end, "the daemon does not come to rest");
      last = now;
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
  }

  void add_setting(Report& report) const {
    report.add("trace", options_.trace);
    report.add("clients", std::uint64_t{options_.clients});
    report.add("block_bytes", options_.block_bytes);
    report.add("host_blocks", options_.host_blocks);
    report.add("disk_bytes_bound", options_.disk_bytes);
    report.add("segment_bytes", segment_bytes());
  }

  void add_replay(Report& report) const {
    const TraceBoard& board = *board_;
    const std::uint64_t hits = board.hits_memory + board.hits_disk + board.hits_waited;
    const auto references = static_cast<double>(board.references.load());
    report.add("requests", board.requests.load());
    report.add("references", board.references.load());
    report.add("unique_blocks", board.unique.load());
    report.add("replay_s", static_cast<double>(board.replay_ns.load()) / 1e9);
    report.add("hits", hits);
    report.add("hit_ratio", static_cast<double>(hits) / references);
    report.add("hit_ratio_possible", static_cast<double>(board.hits_possible.load()) / references);
    report.add("hits_memory", board.hits_memory.load());
    report.add("hits_disk", board.hits_disk.load());
    report.add("hits_waited", board.hits_waited.load());
    report.add("stored", board.stored.load());
    report.add("stores_refused", board.refused.load());
    report.add("restores_short", board.restores_short.load());
    report.add("wrong_blocks", board.wrong.load());
    report.add("failed_calls", board.failed.load());
  }

  static void add_daemon(Report& report, const DaemonCounters& counters) {
    for (const char* name :
         {"demotions", "demotions_failed", "evictions", "evictions_unsaved", "disk_lost", "cold_dropped",
          "nvme_puts_over_budget", "nvme_puts_refused", "nvme_blocks_moved", "nvme_blocks_dropped",
          "nvme_blocks_dead", "nvme_segments_reclaimed", "nvme_syncs", "nvme_io_late", "nvme_io_failed",
          "nvme_reads", "nvme_writes"})
      report.add(name, counters.value(name));
  }

  void add_written(Report& report, const DaemonCounters& counters, std::uint64_t by_kernel,
                   TimeNs elapsed_ns) const {
    const std::uint64_t written = written_bytes(counters);
    const std::uint64_t put = counters.value("nvme_put_bytes");
    report.add("put_bytes", put);
    for (const char* cause : kCauses)
      report.add(std::string("written_") + cause, counters.value(std::string("nvme_written_") + cause));
    report.add("written_bytes", written);
    report.add("written_bytes_by_kernel", by_kernel);
    report.add("write_amplification", put > 0 ? static_cast<double>(written) / static_cast<double>(put) : 0);
    report.add("budget_bytes_per_day", options_.budget_bytes_per_day);
    report.add("budget_allowed_bytes", budget_allowed_bytes(elapsed_ns));
    report.add("budget_ratio",
               options_.budget_bytes_per_day > 0
                   ? static_cast<double>(written) / static_cast<double>(budget_allowed_bytes(elapsed_ns))
                   : 0);
    report.add("disk_file_bytes_max", board_->disk_file_bytes_max.load());
    report.add("disk_bytes_max", board_->disk_bytes_max.load());
    report.add("disk_beside_bytes_max", board_->disk_beside_bytes_max.load());
  }

  // A daemon begins with an hour's worth, which is also the most that it saves up, and gets the rest evenly.
  [[nodiscard]] std::uint64_t budget_allowed_bytes(TimeNs elapsed_ns) const {
    constexpr double kHourS = 3600;
    const double elapsed_s = static_cast<double>(elapsed_ns) / 1e9;
    return static_cast<std::uint64_t>(static_cast<double>(options_.budget_bytes_per_day) / (24 * kHourS) *
                                      (kHourS + elapsed_s));
  }

  TraceOptions options_;
  const NvmePlace place_;
  Shared<TraceBoard> board_;
};

}  // namespace

Report run_trace(const TraceOptions& options, const Common& common) {
  return Trace(options, common).run();
}

}  // namespace kvtier::bench
