#pragma once
// Relative deadlines of the C contract to points of CLOCK_MONOTONIC.

#include "libkvclient/base/clock.h"

namespace kvtier::client {

/// `relative_ns` 0: the default. Saturates at kNever.
TimeNs deadline_from_now(TimeNs relative_ns, TimeNs default_ns);
[[nodiscard]] TimeNs now_ns();
/// Milliseconds for poll(2), rounded up; -1 for kNever.
int poll_timeout_ms(TimeNs at_ns);

}  // namespace kvtier::client
