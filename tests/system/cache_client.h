#pragma once
// An engine in a test: the C contract, blocks of patterns, and words for what tests ask.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kvclient/kvclient.h"
#include "libkvclient/base/clock.h"

namespace kvtier::test {

inline constexpr std::uint64_t kBlockBytes = 64 * 1024;

class CacheClient {
 public:
  struct Options {
    std::string socket;
    std::string namespace_name = "default";
    std::string model = "m";
    std::uint32_t flags = 0;
    TimeNs deadline_ns = 5 * kNsPerSecond;
  };
  /// code() tells whether it worked; error() why not.
  explicit CacheClient(const Options& options);
  ~CacheClient();
  CacheClient(const CacheClient&) = delete;
  CacheClient& operator=(const CacheClient&) = delete;

  [[nodiscard]] int code() const { return code_; }
  [[nodiscard]] const std::string& error() const { return error_; }

  /// Stores the chain's blocks [first, first + count); how many are stored or there already.
  std::size_t store(std::uint64_t chain, std::size_t first, std::size_t count);
  /// Leading blocks of the chain that are ready.
  std::size_t match(std::uint64_t chain, std::size_t count);
  struct Read {
    std::size_t blocks = 0;        ///< leased
    std::size_t wrong_blocks = 0;  ///< with bytes that are not their key's
  };
  /// Acquires the prefix, checks every byte, releases.
  Read read(std::uint64_t chain, std::size_t count);
  /// The same with every block that is ready, whatever lies before it.
  Read read_any(std::uint64_t chain, std::size_t count);
  struct Restored {
    int code = 0;
    std::size_t ready = 0;  ///< leading blocks that are in memory
  };
  /// Brings the prefix back from disk.
  Restored restore(std::uint64_t chain, std::size_t count);
  /// Blocks of the chain that are in this kvc_block_state.
  std::size_t count_state(std::uint64_t chain, std::size_t count, std::uint8_t state);
  /// Acquires and keeps.
  std::size_t hold(std::uint64_t chain, std::size_t count);
  /// Reserves and neither commits nor aborts.
  std::size_t reserve_and_forget(std::uint64_t chain, std::size_t first, std::size_t count);
  /// Reserves all of the chain's blocks or none; when there is no room for this cause, the process that is named.
  pid_t refused_by(std::uint64_t chain, std::size_t count, kvc_cause cause = KVC_CAUSE_PINNED_BY);
  bool ping(TimeNs deadline_ns);
  /// The daemon sees a fresh reservation of this chain work: a whole round.
  bool works(std::uint64_t chain) { return store(chain, 0, 1) == 1 && read(chain, 1).blocks == 1; }
  kvc_client_status status();
  kvc_client* client() { return client_; }
  kvc_space* space() { return space_; }

 private:
  Read read(std::uint64_t chain, std::size_t count, std::uint32_t flags);

  kvc_client* client_ = nullptr;
  kvc_space* space_ = nullptr;
  std::vector<kvc_lease*> held_;
  int code_ = 0;
  std::string error_;
  TimeNs deadline_ns_;
};

std::vector<kvc_key> chain_keys(std::uint64_t chain, std::size_t first, std::size_t count);

/// Runs `body` in a forked child that has no threads of ours; it ends with body's value. The child dies with
/// us.
template <class Body>
pid_t in_child(Body body);

}  // namespace kvtier::test

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

template <class Body>
pid_t kvtier::test::in_child(Body body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::_exit(body());
}
