// kvbench load: one call brings a prefix back from disk, as benchmarks of other systems load a batch. No reference of its
// own: tools/peers runs it beside another system.

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "tools/kvbench/nvme.h"
#include "tools/kvbench/support/failure.h"
#include "tools/kvbench/support/resident_blocks.h"
#include "tools/kvbench/support/statistics.h"

namespace kvtier::bench {
namespace {

constexpr std::uint64_t kDeadlineNs = 20'000'000'000;
constexpr unsigned kRoundsMax = 64;

struct LoadBoard {
  std::array<std::atomic<TimeNs>, kRoundsMax> round_ns{};
  std::atomic<std::uint64_t> missing{0};
  std::atomic<std::uint64_t> wrong{0};
};

class Load {
 public:
  Load(const LoadOptions& options, const Common& common)
      : options_(options), rounds_(std::min(common.repeats, kRoundsMax - 1)), place_(options.folder) {
    need(common.socket.empty(), "load restarts the daemon, so it needs one of its own: leave --socket out");
  }

  Report run() {
    const std::uint64_t chain_bytes = options_.blocks * options_.block_bytes;
    const NvmeLayout layout{.block_bytes = options_.block_bytes,
                            .chain_blocks = options_.blocks,
                            .chains_timed = std::uint64_t{rounds_} + 1};
    const std::uint64_t all_bytes = layout.chains() * chain_bytes;
    const DaemonOptions daemon{
        .host_bytes = all_bytes + (64 << 20),
        .config = nvme_config(place_.path(), 2 * all_bytes, "  write_policy: through\n")};
    {
      const DaemonProcess first(daemon);
      Child([&] {
        nvme_store_run(layout, first, *store_);
        wait_for_disk(first, layout.chains() * options_.blocks);
      }).join();
    }
    const DaemonProcess second(daemon);
    Child([&] { load(second); }).join();
    return report(static_cast<double>(chain_bytes));
  }

 private:
  static void wait_for_disk(const DaemonProcess& daemon, std::uint64_t blocks) {
    const DaemonCounters counters = daemon.counters();
    const TimeNs end = now_ns() + kDeadlineNs;
    while (counters.value("demotions") < blocks) {
      need(now_ns() < end, "what was published is not on disk in time");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  // The first one is not counted, as others' benchmarks do not count theirs.
  void load(const DaemonProcess& daemon) const {
    BenchClient client(daemon.socket(), {options_.block_bytes});
    for (unsigned round = 0; round <= rounds_; ++round) {
      const std::vector<Key> keys = chain_keys(round, 1, options_.blocks);
      const TimeNs start = now_ns();
      client.restore(keys);
      board_->round_ns[round].store(now_ns() - start);
      std::size_t held = 0;
      board_->wrong.fetch_add(client.check(keys, &held));
      board_->missing.fetch_add(keys.size() - held);
    }
  }

  [[nodiscard]] Report report(double chain_bytes) const {
    std::vector<double> rates;
    for (unsigned round = 1; round <= rounds_; ++round)
      rates.push_back(chain_bytes / static_cast<double>(board_->round_ns[round].load()));
    Report report("load");
    report.count_errors(board_->wrong);
    report.add("block_bytes", options_.block_bytes);
    report.add("blocks", std::uint64_t{options_.blocks});
    report.add("rounds", std::uint64_t{rounds_});
    report.add("load_gb_per_s", median(rates));
    report.add("load_gb_per_s_mean", chain_bytes * rounds_ / total_ns());
    report.add("blocks_missing", board_->missing.load());
    return report;
  }
  [[nodiscard]] double total_ns() const {
    double total = 0;
    for (unsigned round = 1; round <= rounds_; ++round)
      total += static_cast<double>(board_->round_ns[round].load());
    return total;
  }

  const LoadOptions options_;
  const unsigned rounds_;
  const NvmePlace place_;
  Shared<NvmeBoard> store_;
  Shared<LoadBoard> board_;
};

}  // namespace

Report run_load(const LoadOptions& options, const Common& common) {
  return Load(options, common).run();
}

}  // namespace kvtier::bench
