#pragma once
// What must be true when nobody uses the daemon any more: nothing is held, and every slot can be had.

#include <cstdint>
#include <string>

#include "tests/kill/daemon_host.h"

namespace kvtier::kill {

struct LeakReport {
  std::uint64_t leaked = 0;  ///< blocks, slots or sessions that somebody dead still holds
  std::uint64_t slots = 0;   ///< of the pool, in blocks of the first space
  std::string text;          ///< what was found; empty: nothing
};

/// For a daemon without clients. Drops all blocks.
LeakReport check_leaks(const DaemonHost& daemon);

/// Nobody writes and nobody is gone but kept: empty, or the counters that say otherwise. For paused clients.
std::string unsettled(const DaemonHost& daemon, std::uint64_t sessions);

}  // namespace kvtier::kill
