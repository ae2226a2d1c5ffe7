// kvbench load: one call brings a prefix back from disk, as benchmarks of other systems load a batch. No reference of its
// own: tools/peers runs it beside another system.

#include <algorithm>

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
    // What is loaded is published first, then the pool twice over: it all leaves for disk.
    const std::uint64_t chain_bytes = options_.blocks * options_.block_bytes;
    const NvmeLayout layout{.block_bytes = options_.block_bytes,
                            .chain_blocks = options_.blocks,
                            .chains_warm = std::uint64_t{rounds_} + 1,
                            .chains_timed = 2 * host_bytes() / chain_bytes + 1};
    const DaemonOptions daemon{.host_bytes = host_bytes(),
                               .config = nvme_config(place_.path(), 2 * layout.chains() * chain_bytes)};
    {
      const DaemonProcess first(daemon);
      Child([&] { nvme_store_run(layout, first, *store_); }).join();
    }
    const DaemonProcess second(daemon);
    Child([&] { load(second); }).join();
    return report(static_cast<double>(chain_bytes));
  }

 private:
  // Room for two loads: one never evicts what it has just brought.
  [[nodiscard]] std::uint64_t host_bytes() const {
    return std::max<std::uint64_t>(256 << 20, 2 * options_.blocks * options_.block_bytes);
  }

  // The first one is not counted, as others' benchmarks do not count theirs.
  void load(const DaemonProcess& daemon) const {
    BenchClient client(daemon.socket(), {options_.block_bytes});
    for (unsigned round = 0; round <= rounds_; ++round) {
      const std::vector<Key> keys = chain_keys(round, 1, options_.blocks);
      std::vector<std::uint8_t> states(keys.size());
      std::size_t ready = 0;
      const TimeNs start = now_ns();
      (void)kvc_restore(client.space(), as_c(keys.data()), keys.size(), kDeadlineNs, states.data(), &ready);
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
