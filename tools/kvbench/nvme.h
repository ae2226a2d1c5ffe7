#pragma once
// Parts of the subcommand nvme: a client that fills a pool far beyond its size, so that blocks are written as they are
// evicted, and one that asks for all of them after a restart. Each is a child of the benchmark.

#include <atomic>
#include <string>

#include "tools/kvbench/options.h"
#include "tools/kvbench/support/bench_client.h"
#include "tools/kvbench/support/child_process.h"
#include "tools/kvbench/support/daemon_process.h"
#include "tools/kvbench/support/stopwatch.h"

namespace kvtier::bench {

/// How the blocks are named: chains of equal length, one prefix each.
struct NvmeLayout {
  std::uint64_t block_bytes = 0;
  std::size_t chain_blocks = 0;
  std::uint64_t chains_warm = 0;   ///< fill the pool, before anything is timed
  std::uint64_t chains_timed = 0;  ///< the data

  [[nodiscard]] std::uint64_t chains() const { return chains_warm + chains_timed; }
};
NvmeLayout nvme_layout(const NvmeOptions& options);

/// What one turn found. Bytes are payload.
struct NvmeBoard {
  std::atomic<TimeNs> store_ns{0};
  std::atomic<std::uint64_t> stored_bytes{0};     ///< written to disk in that time
  std::atomic<std::uint64_t> published_bytes{0};  ///< committed in that time
  std::atomic<std::uint64_t> unsaved{0};          ///< blocks that left memory without a copy
  std::atomic<TimeNs> restore_ns{0};
  std::atomic<std::uint64_t> restored_bytes{0};  ///< read from disk in that time
  std::atomic<std::uint64_t> checked{0};         ///< blocks acquired, every byte compared
  std::atomic<std::uint64_t> missing{0};         ///< blocks asked for that did not come
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> reads{0}, read_bytes{0};             ///< requests to the device
  std::atomic<std::uint64_t> store_cpu_ns{0}, restore_cpu_ns{0};  ///< of the daemon
};

/// The children's whole lives.
void nvme_store_run(const NvmeLayout& layout, const DaemonProcess& daemon, NvmeBoard& board);
void nvme_restore_run(const NvmeLayout& layout, unsigned threads, const DaemonProcess& daemon,
                      NvmeBoard& board);

}  // namespace kvtier::bench
