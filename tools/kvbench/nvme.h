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
  std::uint64_t chain_first = 0;

  [[nodiscard]] std::uint64_t chains() const { return chains_warm + chains_timed; }
};
NvmeLayout nvme_layout(std::uint64_t block_bytes, std::uint64_t bytes, std::uint64_t host_bytes);

/// A private folder below the one that names the disk; gone at the end.
class NvmePlace {
 public:
  explicit NvmePlace(const std::string& below);
  NvmePlace(const NvmePlace&) = delete;
  NvmePlace& operator=(const NvmePlace&) = delete;
  ~NvmePlace();
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string make(const std::string& name) const;

 private:
  std::string path_;
};

/// The text of a configuration with one path of that size in it.
std::string nvme_config(const std::string& folder, std::uint64_t bytes, const std::string& more = {});

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
