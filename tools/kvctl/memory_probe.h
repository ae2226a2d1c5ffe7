#pragma once
// How fast memory is copied, locked, and registered with a ring: what a start with so much host memory takes.

#include <cstdint>
#include <string>

#include "libkvclient/base/clock.h"

namespace kvtier::ctl {

/// Bytes that were dealt with, and how fast; where it was not all, why.
struct PinRate {
  std::uint64_t bytes = 0;
  std::uint64_t bytes_per_second = 0;  ///< 0: none
  std::string reason;                  ///< empty: nothing stood in the way
};

struct MemoryProbe {
  std::uint64_t copy_bytes_per_second = 0;  ///< read and written; one thread, beyond every cache
  PinRate lock;                             ///< mlock of memory that nobody touched yet, as at a start
  PinRate registration;                     ///< as a ring's memory, once it is there
  std::string lock_limit;                   ///< "RLIMIT_MEMLOCK is 8 MiB"
};

/// About `time_ns` for the copies; what is pinned takes what it takes. Throws Failure where there is no memory.
MemoryProbe probe_memory(TimeNs time_ns);

}  // namespace kvtier::ctl
