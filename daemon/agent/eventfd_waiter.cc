#include "daemon/agent/eventfd_waiter.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

namespace kvtier {

Result<std::unique_ptr<EventfdWaiter>> EventfdWaiter::create() {
  UniqueFd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd.is_open()) return Status::from_errno("eventfd", errno);
  return std::make_unique<EventfdWaiter>(std::move(fd));
}

void EventfdWaiter::wait(TimeNs now_ns, TimeNs until_ns) {
  // relaxed: only saves the system call. Whoever sets it a moment later makes the descriptor readable, and nobody sleeps.
  if (until_ns <= now_ns && !is_pending_.load(std::memory_order_relaxed)) return;
  pollfd poll{fd_.get(), POLLIN, 0};
  const TimeNs left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
  const timespec timeout{static_cast<time_t>(left_ns / kNsPerSecond),
                         static_cast<long>(left_ns % kNsPerSecond)};
  const int ready = ppoll(&poll, 1, until_ns == kNever ? nullptr : &timeout, nullptr);
  if (ready > 0) take_wake();
}

void EventfdWaiter::take_wake() {
  std::uint64_t count = 0;
  const ssize_t got = ::read(fd_.get(), &count, sizeof count);
  KV_CHECK(got == sizeof count || errno == EAGAIN || errno == EINTR, "an eventfd of our own is readable");
  // Read first, clear then: cleared first, a wake in between would be read away and block all later ones.
  // acq_rel: reads from the waker's exchange, so the round that follows sees what was pushed before the wake.
  is_pending_.exchange(false, std::memory_order_acq_rel);
}

void EventfdWaiter::wake() {
  // acq_rel: release for what was pushed; a waker that finds true leaves the write to the one who set it.
  if (is_pending_.exchange(true, std::memory_order_acq_rel)) return;
  const std::uint64_t one = 1;
  const ssize_t put = ::write(fd_.get(), &one, sizeof one);
  KV_CHECK(put == sizeof one, "an eventfd below its maximum takes a write");
}

}  // namespace kvtier
