#include <thread>
#include <vector>

#include "tools/kvbench/nvme.h"
#include "tools/kvbench/support/failure.h"
#include "tools/kvbench/support/process_stats.h"
#include "tools/kvbench/support/resident_blocks.h"

namespace kvtier::bench {
namespace {

// Threads of one client take the chains in turn: while one compares bytes, others' chains are being read.
class Restorer {
 public:
  Restorer(const NvmeLayout& layout, const std::string& socket, NvmeBoard& board)
      : layout_(layout), client_(socket, {layout.block_bytes}), board_(board) {}

  void run(unsigned threads) {
    std::vector<std::jthread> all;
    for (unsigned i = 0; i < threads; ++i) all.emplace_back([this] { take_chains(); });
  }

 private:
  void take_chains() {
    for (std::uint64_t chain = next_.fetch_add(1); chain < layout_.chains(); chain = next_.fetch_add(1)) {
      const std::vector<Key> keys = chain_keys(chain, 1, layout_.chain_blocks);
      client_.restore(keys);
      std::size_t held = 0;
      board_.wrong.fetch_add(client_.check(keys, &held));
      board_.checked.fetch_add(held);
      board_.missing.fetch_add(keys.size() - held);
    }
  }

  const NvmeLayout layout_;
  BenchClient client_;
  NvmeBoard& board_;
  std::atomic<std::uint64_t> next_{0};
};

}  // namespace

void nvme_restore_run(const NvmeLayout& layout, unsigned threads, const DaemonProcess& daemon,
                      NvmeBoard& board) {
  Restorer restorer(layout, daemon.socket(), board);
  const DaemonCounters counters = daemon.counters();
  const std::uint64_t reads = counters.value("nvme_reads");
  const std::uint64_t read_bytes = counters.value("nvme_read_bytes");
  const std::uint64_t cpu_ns = process_activity(daemon.pid()).cpu_ns;
  const TimeNs start = now_ns();
  restorer.run(threads);
  board.restore_ns.store(now_ns() - start);
  board.restored_bytes.store(counters.value("restored_bytes"));
  board.reads.store(counters.value("nvme_reads") - reads);
  board.read_bytes.store(counters.value("nvme_read_bytes") - read_bytes);
  board.restore_cpu_ns.store(process_activity(daemon.pid()).cpu_ns - cpu_ns);
}

}  // namespace kvtier::bench
