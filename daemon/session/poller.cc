#include "daemon/session/poller.h"

#include <sys/epoll.h>

#include <cerrno>
#include <ctime>

namespace kvtier {
std::uint64_t PollToken::bits() const {
  return (std::uint64_t{static_cast<std::uint8_t>(source)} << 56) |
         (std::uint64_t{generation & kPollGenerationMask} << 32) | index;
}

PollToken PollToken::from_bits(std::uint64_t bits) {
  return {static_cast<PollSource>(bits >> 56), static_cast<std::uint32_t>(bits),
          static_cast<std::uint32_t>(bits >> 32) & kPollGenerationMask};
}

Result<Poller> Poller::create() {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.is_open()) return Status::from_errno("epoll_create1", errno);
  return Poller(std::move(epoll));
}

Status Poller::control(int operation, int fd, std::uint32_t flags, PollToken token) {
  epoll_event event{};
  event.events = flags;
  event.data.u64 = token.bits();
  if (::epoll_ctl(epoll_.get(), operation, fd, &event) == 0) return Status::ok();
  return Status::from_errno("epoll_ctl", errno);
}

Status Poller::add(int fd, std::uint32_t flags, PollToken token) {
  return control(EPOLL_CTL_ADD, fd, flags, token);
}

Status Poller::modify(int fd, std::uint32_t flags, PollToken token) {
  return control(EPOLL_CTL_MOD, fd, flags, token);
}

void Poller::remove(int fd) {
  epoll_event unused{};
  (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, &unused);
}

std::span<const PollEvent> Poller::wait(TimeNs timeout_ns) {
  std::array<epoll_event, kEventsMax> ready{};
  const timespec limit{static_cast<time_t>(timeout_ns / kNsPerSecond),
                       static_cast<long>(timeout_ns % kNsPerSecond)};
  const int count = ::epoll_pwait2(epoll_.get(), ready.data(), static_cast<int>(ready.size()),
                                   timeout_ns == kNever ? nullptr : &limit, nullptr);
  if (count <= 0) return {};  // nothing, or EINTR: the caller's loop looks again
  for (int i = 0; i < count; ++i) events_[i] = {PollToken::from_bits(ready[i].data.u64), ready[i].events};
  return {events_.data(), static_cast<std::size_t>(count)};
}

}  // namespace kvtier
