#pragma once
// How long a blocking call waits: until its deadline, or until the thread's interrupt check (kvc_set_interrupt) says
// that it shall not wait any more. Every wait of the library goes through it. No lock is held in is_over().

#include "libkvclient/base/clock.h"

namespace kvtier::client {

class Patience {
 public:
  explicit Patience(TimeNs deadline_ns);
  /// How long to sleep at most before the next is_over().
  [[nodiscard]] TimeNs sleep_until() const;
  /// The deadline has passed, or the caller was interrupted.
  bool is_over();

 private:
  const TimeNs deadline_ns_;
  TimeNs next_look_ns_;
};

}  // namespace kvtier::client
