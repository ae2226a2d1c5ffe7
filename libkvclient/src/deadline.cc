#include "libkvclient/src/deadline.h"

#include <algorithm>

namespace kvtier::client {

TimeNs deadline_before(TimeNs deadline_ns) {
  if (deadline_ns == kNever) return 0;
  const TimeNs left = deadline_ns - std::min(now_ns(), deadline_ns);
  return std::max<TimeNs>(deadline_ns - std::min(left / 4, 20 * kNsPerMs), 1);
}

TimeNs now_ns() {
  return SystemClock().now_ns();
}

TimeNs deadline_after(TimeNs begin_ns, TimeNs relative_ns, TimeNs default_ns) {
  const TimeNs span = relative_ns == 0 ? default_ns : relative_ns;
  TimeNs at = 0;
  return __builtin_add_overflow(begin_ns, span, &at) ? kNever : at;
}

TimeNs deadline_from_now(TimeNs relative_ns, TimeNs default_ns) {
  return deadline_after(now_ns(), relative_ns, default_ns);
}

int poll_timeout_ms(TimeNs at_ns) {
  if (at_ns == kNever) return -1;
  const TimeNs now = now_ns();
  if (at_ns <= now) return 0;
  constexpr TimeNs kLongest = 3600 * kNsPerSecond;
  return static_cast<int>((std::min(at_ns - now, kLongest) + kNsPerMs - 1) / kNsPerMs);
}

}  // namespace kvtier::client
