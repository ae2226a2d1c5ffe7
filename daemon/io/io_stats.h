#pragma once
// What a ring has done since it was made. Counters only rise.

#include <cstdint>

#include "daemon/io/io_types.h"

namespace kvtier {

struct IoStats {
  std::uint64_t submitted = 0;
  std::uint64_t refused = 0;  ///< not accepted because requests_max were not over
  std::uint64_t done = 0;
  std::uint64_t ended_early = 0;  ///< reads beyond the end of the file
  std::uint64_t failed = 0;
  std::uint64_t late = 0;  ///< ended by their deadline
  std::uint64_t cancelled = 0;
  std::uint64_t released = 0;  ///< memory that came back after late or cancelled
  std::uint64_t resumed = 0;   ///< short transfers whose rest was asked for
  std::uint64_t retried = 0;   ///< interrupted, or moved nothing
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;

  /// One event; `bytes` moved for it.
  void count(IoOutcome outcome, IoKind kind, std::uint32_t bytes);
};

}  // namespace kvtier
