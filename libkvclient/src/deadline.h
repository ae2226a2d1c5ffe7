#pragma once
// Relative deadlines of the C contract to points of CLOCK_MONOTONIC.

#include "libkvclient/base/clock.h"

namespace kvtier::client {

/// `relative_ns` 0: the default. Saturates at kNever.
TimeNs deadline_from_now(TimeNs relative_ns, TimeNs default_ns);
/// The same of a call that began at `begin_ns`, and has cleared much memory of its caller since.
TimeNs deadline_after(TimeNs begin_ns, TimeNs relative_ns, TimeNs default_ns);
/// The daemon's deadline of a request, 0: none: a bit before our own, so that what it knows by then arrives.
[[nodiscard]] TimeNs deadline_before(TimeNs deadline_ns);
[[nodiscard]] TimeNs now_ns();
/// Milliseconds for poll(2), rounded up; -1 for kNever.
int poll_timeout_ms(TimeNs at_ns);

}  // namespace kvtier::client
