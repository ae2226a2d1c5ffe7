#include "daemon/io/ring_waiter.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace kvtier {

Result<std::unique_ptr<RingWaiter>> RingWaiter::create(const IoRing& ring) {
  Result<std::unique_ptr<EventfdWaiter>> own = EventfdWaiter::create();
  if (!own.is_ok()) return own.status();
  return std::make_unique<RingWaiter>(ring, std::move(own).value());
}

void RingWaiter::wait(TimeNs now_ns, TimeNs until_ns) {
  const TimeNs end_ns = std::min(until_ns, ring_.next_deadline_ns());
  const TimeNs left_ns = end_ns > now_ns ? end_ns - now_ns : 0;
  const timespec timeout{static_cast<time_t>(left_ns / kNsPerSecond),
                         static_cast<long>(left_ns % kNsPerSecond)};
  std::array<pollfd, 2> fds{{{own_->fd(), POLLIN, 0}, {ring_.completion_fd(), POLLIN, 0}}};
  const int ready = ::ppoll(fds.data(), fds.size(), end_ns == kNever ? nullptr : &timeout, nullptr);
  if (ready > 0 && fds[0].revents != 0) own_->wait(now_ns, now_ns);
}

}  // namespace kvtier
