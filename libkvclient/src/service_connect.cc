// How sessions begin, and break off.

#include <algorithm>
#include <atomic>

#include "libkvclient/src/deadline.h"
#include "libkvclient/src/service.h"

namespace kvtier::client {
namespace {

// Of all clients of the process: a slot names its session, whichever client it is handed to.
std::uint32_t next_serial() {
  static std::atomic<std::uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: only that they differ counts
}

constexpr TimeNs kBackoffFirstNs = 10 * kNsPerMs;
constexpr TimeNs kBackoffLastNs = kNsPerSecond;
// Nobody waits for a handshake longer than for his own call; one that ends early never connects.
constexpr TimeNs kHandshakeLeastNs = kNsPerSecond;

}  // namespace

void Service::try_to_connect() {
  const ResumeProof proof = core_.session_ ? core_.session_->proof() : ResumeProof{};
  const TimeNs deadline_ns = now_ns() + std::max(core_.options.deadline_ns, kHandshakeLeastNs);
  Result<Handshake> handshake =
      shake_hands(core_.options, proof, deadline_ns, {core_.wake_.get(), core_.is_closed});
  if (!handshake.is_ok()) return failed(handshake.status());
  const Status installed = install(std::move(handshake).value());
  if (!installed.is_ok()) failed(installed);
}

// Doubling from 10 ms to 1 s, the second half of each by chance, so that clients do not come back all at
// once.
void Service::failed(const Status& why) {
  const unsigned doublings = std::min(failures_count_++, 16U);
  const TimeNs delay = std::min(kBackoffFirstNs << doublings, kBackoffLastNs);
  next_attempt_ns_ = now_ns() + delay / 2 + chance_.below(delay / 2);
  const std::lock_guard lock(core_.mutex_);
  ++core_.attempts_count_;
  core_.last_error_ = why;
  core_.state_ = is_passing(why.code()) ? ConnectionState::kConnecting : ConnectionState::kRefused;
  core_.changed_.notify_all();
}

Status Service::install(Handshake handshake) {
  const std::uint32_t epoch = next_epoch_++;
  const bool is_resumed = (handshake.welcome.flags & kWelcomeResumed) != 0 && core_.session_ != nullptr;
  Status status = is_resumed ? resume(handshake, epoch) : begin(std::move(handshake), epoch);
  if (status.is_ok()) announce(is_resumed);
  return status;
}

Status Service::resume(Handshake& handshake, std::uint32_t epoch) {
  Status status;
  {
    const std::lock_guard lock(core_.mutex_);
    status = session().resume(handshake, epoch).while_doing("resuming the session");
  }
  if (!status.is_ok()) retire_session();  // the next attempt asks for a new one
  return status;
}

// Another channel, another world: what the old session still lends out stays readable, nothing else.
Status Service::begin(Handshake handshake, std::uint32_t epoch) {
  Result<std::shared_ptr<Session>> made = Session::create(std::move(handshake), next_serial(), epoch);
  if (!made.is_ok()) return made.status();
  retire_session();
  const std::lock_guard lock(core_.mutex_);
  core_.session_ = std::move(made).value();
  return Status::ok();
}

void Service::retire_session() {
  if (!core_.session_) return;
  removals_.clear();
  const std::lock_guard lock(core_.mutex_);
  core_.retired_.push_back(std::move(core_.session_));
}

void Service::announce(bool is_resumed) {
  is_connected_ = true;
  failures_count_ = 0;
  publish_view(true);
  const std::lock_guard lock(core_.mutex_);
  ++core_.attempts_count_;
  ++core_.sessions_count_;
  if (is_resumed) ++core_.resumed_count_;
  core_.state_ = ConnectionState::kConnected;
  core_.daemon_major_ = session().welcome.protocol_major;
  core_.daemon_minor_ = session().welcome.protocol_minor;
  register_spaces();
  core_.changed_.notify_all();
}

void Service::register_spaces() {
  for (const auto& space : core_.spaces_) core_.send_registration(*space);  // a dead socket shows in poll
}

// Told first, then the waiting calls end: who was told "unavailable" finds no connection.
void Service::hang_up(const Status& why) {
  publish_view(false);
  is_connected_ = false;
  removals_.clear();  // announced again by a daemon that still means it
  next_attempt_ns_ = now_ns() + chance_.below(kBackoffFirstNs);
  disconnect(why);
  Requests& requests = *session().requests;
  requests.break_off();
  core_.counts.requests_before += requests.sent_count();
  core_.counts.late_before += requests.late_count();
}

void Service::disconnect(const Status& why) {
  const std::lock_guard lock(core_.mutex_);
  for (const auto& space : core_.spaces_) space->binding.store(0);
  core_.session_->socket.reset();
  core_.outgoing_.clear();
  core_.state_ = ConnectionState::kConnecting;
  core_.last_error_ = why;
  core_.changed_.notify_all();
}

}  // namespace kvtier::client
