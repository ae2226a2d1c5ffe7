#include "libkvclient/src/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace kvtier::client {

void futex_wait(const SharedU32& word, std::uint32_t expected, TimeNs deadline_ns) {
  const timespec at{static_cast<time_t>(deadline_ns / kNsPerSecond),
                    static_cast<long>(deadline_ns % kNsPerSecond)};
  const timespec* timeout = deadline_ns == kNever ? nullptr : &at;
  // FUTEX_WAIT_BITSET: its timeout is a point of CLOCK_MONOTONIC, not a span.
  ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, expected, timeout, nullptr, FUTEX_BITSET_MATCH_ANY);
}

void futex_wake_all(const SharedU32& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace kvtier::client
