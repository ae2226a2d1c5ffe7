#pragma once
// Time for measuring: CLOCK_MONOTONIC, equal in all processes of the host.

#include "libkvclient/base/clock.h"

namespace kvtier::bench {

inline TimeNs now_ns() {
  static const SystemClock clock;
  return clock.now_ns();
}

/// Keeps the compiler from dropping a computed value.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace kvtier::bench
