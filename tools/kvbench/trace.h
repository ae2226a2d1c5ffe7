#pragma once
// Parts of the subcommand trace: clients that replay the requests of a trace as an engine would, in a child of the
// benchmark.

#include <array>
#include <atomic>
#include <string>

#include "tools/kvbench/options.h"
#include "tools/kvbench/support/child_process.h"
#include "tools/kvbench/support/daemon_process.h"
#include "tools/kvbench/support/stopwatch.h"

namespace kvtier::bench {

/// What a replay found. Blocks, unless it says so.
struct TraceBoard {
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> references{0};
  std::atomic<std::uint64_t> unique{0};
  std::atomic<std::uint64_t> hits_possible{0};  ///< if nothing had ever left
  std::atomic<std::uint64_t> hits_memory{0};
  std::atomic<std::uint64_t> hits_disk{0};  ///< were on disk alone when the request came
  std::atomic<std::uint64_t> hits_waited{
      0};  ///< on their way when it came: from the other client, or from disk
  std::atomic<std::uint64_t> stored{0};
  std::atomic<std::uint64_t> refused{0};         ///< there was no room to reserve
  std::atomic<std::uint64_t> restores_short{0};  ///< requests for which some found no room, or came too late
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> failed{0};  ///< calls and slots that ended as nothing explains
  // bytes of the tier's folder, the most that was seen
  std::atomic<std::uint64_t> disk_file_bytes_max{0};    ///< size of the file that holds the blocks
  std::atomic<std::uint64_t> disk_bytes_max{0};         ///< allocated to it: the file system's map of it too
  std::atomic<std::uint64_t> disk_beside_bytes_max{0};  ///< allocated to all else
  std::atomic<TimeNs> replay_ns{0};
  std::array<char, 256> first_failure{};  ///< written once: see failed
};

/// The child's whole life. `folder`: the tier's.
void trace_replay_run(const TraceOptions& options, const std::string& folder, const DaemonProcess& daemon,
                      TraceBoard& board);

}  // namespace kvtier::bench
