// How a client ends: the calls of other threads, the last leases and slots, the goodbye.

#include <poll.h>

#include <chrono>
#include <thread>

#include "libkvclient/base/fault_point.h"
#include "libkvclient/src/deadline.h"
#include "libkvclient/src/service.h"

namespace kvtier::client {
namespace {

constexpr TimeNs kDrainNs = 100 * kNsPerMs;
// What close() waits for other threads, and for the daemon. Usually they take microseconds.
constexpr TimeNs kPatienceNs = 200 * kNsPerMs;

}  // namespace

void Service::shut_down() {
  end_calls();
  std::shared_ptr<Session> last;
  while (!take_last_session(last)) {
    let_close_return();
    do_chores();
    wait_for_events(now_ns() + kLookAgainNs);
    drain_wake();
    if (is_connected()) take_messages();
  }
  if (last) end_session(std::move(last));
  const std::lock_guard lock(core_.mutex_);
  core_.ending_ = Ending::kDone;
  core_.changed_.notify_all();
}

// Whatever leases and slots are open: they need the session's memory, and nothing of the daemon. Calls that come now see
// is_closed; those that wait are in Requests, or in Core::wait_locked.
void Service::end_calls() {
  publish_view(false);
  if (core_.session_) core_.session_->requests->break_off();
  const std::lock_guard lock(core_.mutex_);
  core_.changed_.notify_all();
}

// False while somebody uses a session. Core::lend looks at is_closed, and counts reservations, under the same mutex; leases
// came to an end with the view: one that comes now either keeps the session or is none.
bool Service::take_last_session(std::shared_ptr<Session>& last) {
  const std::lock_guard lock(core_.mutex_);
  // acquire: the last reads through a lease, and writes into a slot, are before the unmapping.
  const bool has_users =
      core_.session_ != nullptr && core_.session_->users.load(std::memory_order_acquire) > 0;
  if (has_users || !core_.retired_.empty()) return false;
  last = std::move(core_.session_);
  return true;
}

// The rest needs nobody but the service thread, which goes on alone.
void Service::let_close_return() {
  const std::lock_guard lock(core_.mutex_);
  core_.ending_ = Ending::kLeftAlone;
  core_.changed_.notify_all();
}

// Everything is unmapped before it is said. Records that are still in the ring are taken by the daemon first.
void Service::end_session(std::shared_ptr<Session> last) {
  if (is_connected()) last->drain(now_ns() + kDrainNs);
  const UniqueFd socket = std::move(last->socket);
  wait_for_calls(last);
  last.reset();
  (void)KV_FAULT("client.close.before_goodbye");
  if (is_connected()) say_goodbye(socket.get());
  is_connected_ = false;
}

// Calls of other threads hold the session until they have seen that it is over. A goodbye before that would be
// a lie, and without one the daemon lends the session's slabs to nobody until this process exits.
void Service::wait_for_calls(const std::shared_ptr<Session>& last) {
  const TimeNs patience_ends_ns = now_ns() + kPatienceNs;
  while (last.use_count() > 1) {
    const bool is_patient = now_ns() < patience_ends_ns;
    if (!is_patient) let_close_return();
    std::this_thread::sleep_for(std::chrono::nanoseconds(is_patient ? 50 * kNsPerUs : kLookAgainNs));
  }
}

// Until the daemon has closed its end. A message of its own that meets a closed socket, or lies unread in one,
// is a reset to it, and it reads that first: the goodbye would be lost.
void Service::say_goodbye(int socket) {
  const auto goodbye = message_header(MessageType::kGoodbye, sizeof(MessageHeader), 0);
  const TimeNs patience_ends_ns = now_ns() + kPatienceNs;
  bool is_said = false;
  while (true) {
    const Status sent = is_said ? Status::ok() : send_message(socket, goodbye);
    is_said = sent.is_ok();
    const Code heard = receive_message(socket).code();
    if (heard == Code::kUnavailable || heard == Code::kSystem) return;
    if (heard != Code::kBusy) continue;
    pollfd fd{socket, static_cast<short>(is_said ? POLLIN : POLLIN | POLLOUT), 0};
    ::poll(&fd, 1, poll_timeout_ms(now_ns() + kLookAgainNs));
    if (now_ns() >= patience_ends_ns) let_close_return();
  }
}

}  // namespace kvtier::client
