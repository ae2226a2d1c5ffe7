#include "libkvclient/src/service.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "libkvclient/src/deadline.h"

namespace kvtier::client {

Service::Service(Core& core)
    : core_(core), chance_(now_ns() ^ (static_cast<std::uint64_t>(::getpid()) << 40)) {}

void Service::run() {
  while (!core_.is_closed.load()) turn();
  shut_down();
}

void Service::turn() {
  if (!is_connected() && now_ns() >= next_attempt_ns_) try_to_connect();
  do_chores();
  wait_for_events(next_wake_ns());
  drain_wake();
  if (is_connected()) take_messages();
}

TimeNs Service::next_wake_ns() const {
  if (has_more_pages_) return 0;
  const bool looks_again =
      !removals_.empty() || !core_.retired_.empty() || (is_connected() && session().requests->reap_late());
  const TimeNs look = looks_again ? now_ns() + kLookAgainNs : kNever;
  return is_connected() ? look : std::min(look, next_attempt_ns_);
}

void Service::wait_for_events(TimeNs until_ns) {
  pollfd fds[2] = {{core_.wake_.get(), POLLIN, 0}, {-1, POLLIN, 0}};
  if (is_connected()) {
    fds[1].fd = session().socket.get();
    if (flush_outgoing()) fds[1].events |= POLLOUT;
  }
  ::poll(fds, 2, poll_timeout_ms(until_ns));
}

bool Service::flush_outgoing() {
  const std::lock_guard lock(core_.mutex_);
  core_.outgoing_.flush(session().socket.get());
  return !core_.outgoing_.is_empty();
}

void Service::drain_wake() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(core_.wake_.get(), &count, sizeof count);
}

void Service::do_chores() {
  collect_retired();
  has_more_pages_ = false;
  if (!is_connected()) return;
  finish_removals();
  acknowledge_released();
  has_more_pages_ = session().mappings.populate_some();
}

void Service::collect_retired() {
  std::vector<std::shared_ptr<Session>> done;
  const std::lock_guard lock(core_.mutex_);
  // acquire: the last reads through a lease are before the unmapping.
  const auto is_unused = [](const auto& each) { return each->users.load(std::memory_order_acquire) == 0; };
  const auto first = std::partition(core_.retired_.begin(), core_.retired_.end(), std::not_fn(is_unused));
  done.assign(first, core_.retired_.end());
  core_.retired_.erase(first, core_.retired_.end());
}

void Service::publish_view(bool is_connected) {
  drop_view(show_view(is_connected));
}

std::unique_ptr<const View> Service::show_view(bool is_connected) {
  std::vector<std::uint32_t> leaving;
  for (const Removal& removal : removals_) leaving.push_back(removal.slab);
  const bool is_shown = is_connected && !core_.is_closed.load();
  std::unique_ptr<const View> fresh = is_shown ? session().make_view(leaving, core_.wake_.get()) : nullptr;
  Grace::show(core_.view, fresh.get());
  return std::exchange(view_, std::move(fresh));
}

void Service::drop_view(std::unique_ptr<const View> old) {
  core_.readers.wait_for_readers();
  old.reset();
}

}  // namespace kvtier::client
