// kvbench restart: how long a daemon takes to serve what lies on its disk, after a clean end and after a kill, and what
// memory it has then. No reference: the bar is absolute.

#include <signal.h>

#include <algorithm>

#include "tools/kvbench/nvme.h"
#include "tools/kvbench/support/failure.h"
#include "tools/kvbench/support/process_stats.h"
#include "tools/kvbench/support/resident_blocks.h"

namespace kvtier::bench {
namespace {

constexpr std::uint64_t kSamples = 64;  // chains of which some blocks are restored and compared

struct RestartBoard {
  std::atomic<std::uint64_t> checked{0};
  std::atomic<std::uint64_t> missing{0};
  std::atomic<std::uint64_t> wrong{0};
};

class Restart {
 public:
  Restart(const RestartOptions& options, const Common& common)
      : options_(options),
        blocks_(common.is_quick ? std::min<std::uint64_t>(options.blocks, 10'000) : options.blocks),
        layout_(nvme_layout(options.block_bytes, blocks_ * options.block_bytes, options.host_bytes)),
        place_(options.folder) {
    need(common.socket.empty(), "restart needs a daemon of its own: leave --socket out");
  }

  Report run() {
    {
      const DaemonProcess daemon(daemon_options());
      Child([&] { nvme_store_run(layout_, daemon, *store_); }).join();
      unsaved_ = daemon.counters().value("evictions_unsaved");
    }
    Report report("restart");
    measure(report, "clean", false);
    {
      DaemonProcess daemon(daemon_options());
      Child([&] { dirty(daemon); }).join();
      daemon.kill();
    }
    measure(report, "killed", true);
    report.count_errors(board_->wrong);
    report.add("blocks", blocks_);
    report.add("block_bytes", options_.block_bytes);
    report.add("evictions_unsaved", unsaved_);
    report.add("blocks_checked", board_->checked.load());
    report.add("blocks_missing", board_->missing.load());
    return report;
  }

 private:
  [[nodiscard]] DaemonOptions daemon_options() const {
    const std::uint64_t bytes =
        2 * (layout_.chains() + kSamples) * layout_.chain_blocks * options_.block_bytes;
    const std::uint64_t names = layout_.chains() * layout_.chain_blocks * 5 / 4;
    return {.host_bytes = options_.host_bytes,
            .config = nvme_config(place_.path(), bytes, "  blocks_max: " + std::to_string(names) + "\n")};
  }

  // Writes until a segment is open and has something in it, so that the next start has one to scan.
  void dirty(const DaemonProcess& daemon) const {
    NvmeLayout more = layout_;
    more.chain_first = layout_.chains();
    more.chains_timed = 1;
    NvmeBoard board;
    nvme_store_run(more, daemon, board);
  }

  void measure(Report& report, const std::string& name, bool is_last) {
    const TimeNs start = now_ns();
    const DaemonProcess daemon(daemon_options());
    report.add(name + "_serving_s", static_cast<double>(now_ns() - start) / 1e9);
    const DaemonCounters counters = daemon.counters();
    report.add(name + "_recovered_blocks", counters.value("disk_recovered"));
    report.add(name + "_scans", counters.value("nvme_recovered_scans"));
    if (!is_last) {
      const std::uint64_t metadata = counters.value("metadata_bytes");
      const std::uint64_t resident = process_memory(daemon.pid()).pss_bytes;
      const std::uint64_t host = counters.value("host_bytes");
      report.add("metadata_bytes", metadata);
      report.add("daemon_bytes_beside_pool", resident - std::min(resident, host));
      report.add("daemon_bytes_per_block",
                 static_cast<double>(resident - std::min(resident, host)) / static_cast<double>(blocks_));
    }
    Child([&] { check(daemon); }).join();
  }

  // Some blocks of chains spread over all of them.
  void check(const DaemonProcess& daemon) const {
    BenchClient client(daemon.socket(), {options_.block_bytes});
    const std::size_t count = std::min<std::size_t>(layout_.chain_blocks, 64);
    for (std::uint64_t i = 0; i < kSamples; ++i) {
      const std::vector<Key> keys = chain_keys(i * layout_.chains_timed / kSamples, 1, count);
      client.restore(keys);
      std::size_t held = 0;
      board_->wrong.fetch_add(client.check(keys, &held));
      board_->checked.fetch_add(held);
      board_->missing.fetch_add(count - held);
    }
  }

  const RestartOptions options_;
  const std::uint64_t blocks_;
  const NvmeLayout layout_;
  const NvmePlace place_;
  Shared<NvmeBoard> store_;
  Shared<RestartBoard> board_;
  std::uint64_t unsaved_ = 0;
};

}  // namespace

Report run_restart(const RestartOptions& options, const Common& common) {
  return Restart(options, common).run();
}

}  // namespace kvtier::bench
