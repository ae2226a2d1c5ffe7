#pragma once
// The subcommands and their options. command_line.cc fills them in.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "tools/kvbench/support/report.h"

namespace kvtier::bench {

/// Options of every subcommand.
struct Common {
  std::string socket;  ///< empty: a daemon of its own
  bool is_json = false;
  bool is_quick = false;  ///< short phases: tests that the benchmark works, measures nothing
  unsigned repeats = 5;   ///< subject and reference alternate this often; the median counts
};

struct LookupOptions {
  std::uint64_t resident = 10'000;
  std::size_t keys = 200;
  unsigned threads = 2;  ///< of the one client
  bool is_unordered = false;
  unsigned commits_per_s = 10'000;  ///< by another process
  std::string python;               ///< interpreter with kvclient; empty: not measured
};

struct ShareOptions {
  std::uint64_t block_bytes = 2 << 20;
  std::size_t blocks = 64;     ///< a turn
  unsigned singles = 50;       ///< rounds of one block, for its latency
  bool is_one_buffer = false;  ///< publish from one private buffer, read into one; it stays in the caches
  bool is_memcpy = false;      ///< copies of the subject with memcpy too, not with the library's kvc_copy
};

struct ChurnOptions {
  std::uint64_t resident = 10'000;
  unsigned clients = 0;  ///< attached, idle
  unsigned rounds = 2000;
};

inline constexpr unsigned kClientsMax = 64;
struct ClientsOptions {
  unsigned clients_max = kClientsMax;
};

struct IdleOptions {
  unsigned seconds = 10;
  unsigned clients = 1;  ///< attached, idle
};

struct MemoryOptions {
  std::uint64_t bytes = 1 << 30;
  std::uint64_t block_bytes = 16 << 10;
  unsigned clients = 4;
};

struct NvmeOptions {
  std::string folder = "/var/tmp";  ///< names the file system; a private folder is made in it
  std::uint64_t block_bytes = 2 << 20;
  std::uint64_t bytes = std::uint64_t{2} << 30;         ///< data a turn
  std::uint64_t host_bytes = std::uint64_t{512} << 20;  ///< the pool above it
  unsigned threads = 3;                                 ///< of the restoring client
  bool is_fio_huge = false;      ///< fio's buffers in huge pages: more than the bar asks
  std::string backend = "auto";  ///< as in the setting nvme.backend
};

struct RestartOptions {
  std::string folder = "/var/tmp";
  std::uint64_t blocks = 1'000'000;  ///< on disk
  std::uint64_t block_bytes = 4096;
  std::uint64_t host_bytes = std::uint64_t{256} << 20;
};

struct LoadOptions {
  std::string folder = "/var/tmp";
  std::uint64_t block_bytes = 2 << 20;
  std::size_t blocks = 64;  ///< a load
};

struct TraceOptions {
  std::string trace;  ///< JSON lines with hash_ids; "-": standard input
  std::string folder = "/var/tmp";
  std::uint64_t block_bytes = 4096;
  std::uint64_t host_blocks = 21'500;                   ///< the pool in memory
  std::uint64_t disk_bytes = std::uint64_t{416} << 20;  ///< bound of the file on disk; 0: no NVMe tier
  std::uint64_t budget_bytes_per_day = 0;               ///< 0: no limit
  std::uint64_t requests = 0;                           ///< of the trace, from its beginning; 0: all
  unsigned clients = 1;
  double interval_ms = 0;  ///< between requests; 0: as fast as they go
};

/// One file each.
Report run_lookup(const LookupOptions& options, const Common& common);
Report run_share(const ShareOptions& options, const Common& common);
Report run_churn(const ChurnOptions& options, const Common& common);
Report run_clients(const ClientsOptions& options, const Common& common);
Report run_idle(const IdleOptions& options, const Common& common);
Report run_memory(const MemoryOptions& options, const Common& common);
Report run_nvme(const NvmeOptions& options, const Common& common);
Report run_load(const LoadOptions& options, const Common& common);
Report run_restart(const RestartOptions& options, const Common& common);
Report run_trace(const TraceOptions& options, const Common& common);

struct CommandLine {
  Common common;
  std::function<Report()> run;  ///< empty: done already (--help, --version, a mistake)
  int exit_status = 0;
};
CommandLine parse_command_line(int argc, char** argv);

}  // namespace kvtier::bench
