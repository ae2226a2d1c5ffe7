#pragma once
// How a call over any number of keys keeps to its deadline: it looks at it every kPaceKeys of them. Calls with fewer
// never find it over here, so that a deadline in the past still gets what is at hand.

#include <cstddef>

#include "libkvclient/src/patience.h"

namespace kvtier::client {

/// A look costs 20 to 30 ns; this many keys cost 10 us (a look at the directory) to 500 us (commits).
inline constexpr std::size_t kPaceKeys = 512;

class Pace {
 public:
  explicit Pace(TimeNs deadline_ns) : patience_(deadline_ns) {}

  /// So many more keys are done.
  void add(std::size_t count) { since_look_ += count; }
  /// Before the next keys: the deadline has passed, or the caller was interrupted. Then it stays so. No lock is held.
  [[nodiscard]] bool is_over() {
    if (is_over_ || since_look_ < kPaceKeys) return is_over_;
    since_look_ = 0;
    is_over_ = patience_.is_over();
    return is_over_;
  }

 private:
  Patience patience_;
  std::size_t since_look_ = 0;
  bool is_over_ = false;
};

}  // namespace kvtier::client
