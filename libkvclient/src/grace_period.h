#pragma once
// When may a thing that readers look at end, after another has taken its place? Sleepable RCU with direct counters: a
// reader counts itself into the current parity of its shard; the writer shows the new thing, then waits for each parity
// in turn to be empty while newcomers use the other. A template over `Memory` for the explorer (wire/order_sites.h).
//
// Why it suffices: a reader counts itself in before it looks, the writer shows before it looks at the counts, all four
// seq_cst. A reader that got the old thing looked before the new one was shown, so its count was there before the writer
// looked at either parity, and stays until it leaves.
//
// Why two rounds: a reader may read the parity, sleep, and count itself in when the writer has flipped it, so it may be
// in either. With one round, the writer's next wait is for the other parity, and misses it.

#include <cstdint>

#include "libkvclient/wire/order_sites.h"

namespace kvtier::client {

template <class Memory>
struct GraceProtocol {
  using Count = typename Memory::Cell32;

  /// Returns the parity that it was counted in, for leave().
  static unsigned enter(const Count& parity, Count (&inside)[2]) {
    // relaxed: either is right, the current one only lets the writer come to an end.
    const unsigned current = Memory::load(parity, at<Site::kGraceParity>) & 1;
    Memory::fetch_add(inside[current], 1, at<Site::kGraceEnter>);
    return current;
  }
  static void leave(Count (&inside)[2], unsigned parity) {
    // release: all that was read is before the count that lets the writer end it.
    Memory::fetch_sub(inside[parity], 1, at<Site::kGraceLeave>);
  }

  template <class Pointer>
  static auto look(const Pointer& pointer) {
    return Memory::load(pointer, at<Site::kGraceLook>);
  }
  template <class Pointer, class Value>
  static void show(Pointer& pointer, Value value) {
    Memory::store(pointer, value, at<Site::kGraceShow>);
  }

  /// `wait_empty(parity)` returns when it has seen every shard's count of that parity at 0, by Site::kGraceWait. One
  /// writer at a time.
  template <unsigned kRounds = 2, class WaitEmpty>
  static void wait_for_readers(Count& parity, WaitEmpty&& wait_empty) {
    for (unsigned round = 0; round < kRounds; ++round) {
      wait_empty(Memory::fetch_add(parity, 1, at<Site::kGraceFlip>) & 1);
    }
  }
};

}  // namespace kvtier::client
