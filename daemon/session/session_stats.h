#pragma once
// Plain numbers of the session layer, kept by the conductor. Counters only rise.

#include <cstdint>

namespace kvtier {

struct SessionStats {
  std::uint64_t connections_accepted = 0;
  std::uint64_t hellos_refused = 0;    ///< with a reason: version, namespace, limits, malformed
  std::uint64_t hellos_timed_out = 0;  ///< nothing came in time, or the place was needed
  std::uint64_t sessions_ended = 0;    ///< by us: the client broke the protocol, or was kicked
  std::uint64_t hang_ups = 0;          ///< by the client
  std::uint64_t exits = 0;             ///< processes seen to exit
  std::uint64_t submissions = 0;
  std::uint64_t completions = 0;
  std::uint64_t completions_dropped = 0;  ///< the client was gone
  std::uint64_t sleeps = 0;               ///< times the conductor blocked: its wake-ups
};

}  // namespace kvtier
