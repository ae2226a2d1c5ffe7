#pragma once
// What the kernel says of a process: CPU time, wake-ups, memory.

#include <sys/types.h>

#include <cstdint>

namespace kvtier::bench {

struct ProcessActivity {
  std::uint64_t cpu_ns = 0;   ///< all threads, from schedstat
  std::uint64_t wakeups = 0;  ///< voluntary context switches of all threads: each one ends a sleep
};
ProcessActivity process_activity(pid_t pid);

struct ProcessMemory {
  std::uint64_t pss_bytes = 0;
  std::uint64_t pss_private_bytes = 0;  ///< anonymous and file pages: what is not shared memory
};
ProcessMemory process_memory(pid_t pid);

/// What it has had written to devices, as the kernel counts; 0 where that is not to be read.
std::uint64_t process_written_bytes(pid_t pid);

/// Pages of all memfds that a process holds open, mapped or not. Each file once.
std::uint64_t memfd_bytes(pid_t pid);

}  // namespace kvtier::bench
