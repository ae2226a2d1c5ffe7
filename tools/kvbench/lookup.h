#pragma once
// Parts of the subcommand lookup.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/kvbench/options.h"
#include "tools/kvbench/support/bench_client.h"
#include "tools/kvbench/support/child_process.h"
#include "tools/kvbench/support/daemon_process.h"
#include "tools/kvbench/support/private_buffer.h"
#include "tools/kvbench/support/stopwatch.h"

namespace kvtier::bench {

inline constexpr std::uint64_t kLookupBlockBytes = 4096;

/// Another client, in a process of its own, that commits blocks of the same space at a steady rate.
class LookupBackground {
 public:
  /// Room for what it commits while the measurement lasts: it evicts nothing.
  static std::uint64_t blocks_needed(const LookupOptions& options, const Common& common);

  /// Forks.
  LookupBackground(const LookupOptions& options, const std::string& socket, std::uint64_t blocks_max);
  void begin();
  /// Ends it; commits a second from begin to here.
  double end();

 private:
  struct State {
    std::atomic<bool> is_over{false};
    std::atomic<std::uint64_t> committed{0};
    std::atomic<bool> is_out_of_room{false};
  };
  void body(const std::string& socket, unsigned commits_per_s, std::uint64_t blocks_max);

  Shared<State> state_;
  Event start_;
  TimeNs began_ns_ = 0;
  std::uint64_t committed_before_ = 0;
  std::unique_ptr<Child> child_;
};

/// What the machine itself takes: random lines of private memory as large as the directory, a thread each,
/// prefetched in groups as the directory's reader does.
class LookupReference {
 public:
  explicit LookupReference(const LookupOptions& options);
  /// Median nanoseconds a line.
  double line_ns(TimeNs duration_ns);

 private:
  const LookupOptions& options_;
  std::uint64_t lines_count_;
  PrivateBuffer memory_;
};

}  // namespace kvtier::bench
