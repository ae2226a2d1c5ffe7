#include "libkvclient/src/core.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "libkvclient/src/deadline.h"
#include "libkvclient/src/patience.h"
#include "libkvclient/src/service.h"

namespace kvtier::client {
namespace {

using SteadyPoint = std::chrono::steady_clock::time_point;

// std::chrono's steady clock is CLOCK_MONOTONIC here. A day is far enough, and far from its overflow.
SteadyPoint steady(TimeNs at_ns) {
  constexpr TimeNs kDay = TimeNs{24} * 3600 * kNsPerSecond;
  return SteadyPoint(std::chrono::nanoseconds(std::min(at_ns, now_ns() + kDay)));
}

// A thread without signals: the engine's handlers run in the engine's threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

std::thread start_quietly(std::shared_ptr<Core> core) {
  const SignalsBlocked blocked;  // also when no thread can be made, which throws
  return std::thread([core = std::move(core)]() mutable {
    pthread_setname_np(pthread_self(), "kvclient");
    Service(*core).run();
  });
}

Status closed() {
  return {Code::kStale, "the client is closed"};
}

}  // namespace

Core::Core(ClientOptions client_options)
    : options(std::move(client_options)), wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

Result<std::shared_ptr<Core>> Core::open(ClientOptions options) {
  KV_RETURN_IF_ERROR(check_options(options));
  auto core = std::make_shared<Core>(std::move(options));
  if (!core->wake_.is_open()) return Status::from_errno("eventfd", errno);
  core->service_ = start_quietly(core);
  std::unique_lock lock(core->mutex_);
  const Status status = core->wait_for_first_attempt(lock, deadline_from_now(0, core->options.deadline_ns));
  lock.unlock();
  if (status.is_ok()) return core;
  core->close();
  return status;
}

template <class Predicate>
bool Core::wait_locked(std::unique_lock<std::mutex>& lock, const Predicate& is_true, TimeNs deadline_ns) {
  Patience patience(deadline_ns);
  while (!is_true()) {
    lock.unlock();  // the check of an interrupt may wait for a lock that a caller of ours holds
    const bool is_over = patience.is_over();
    lock.lock();
    if (is_true()) return true;  // since the lock was let go; nobody says it again
    if (is_over || is_closed.load()) return false;
    changed_.wait_until(lock, steady(patience.sleep_until()));
  }
  return true;
}

Status Core::wait_for_first_attempt(std::unique_lock<std::mutex>& lock, TimeNs deadline_ns) {
  (void)wait_locked(
      lock, [this] { return attempts_count_ > 0; }, deadline_ns);
  if (state_ == ConnectionState::kConnected) return Status::ok();
  const bool is_away = attempts_count_ == 0 || is_passing(last_error_.code());
  if (is_away && !options.is_required) return Status::ok();
  if (attempts_count_ == 0)
    return {Code::kUnavailable, options.socket_path + ": no answer before the deadline"};
  return last_error_;
}

void Core::close() {
  if (is_closed.exchange(true)) return;
  wake_service();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ending_ != Ending::kNotReached; });
  const bool is_done = ending_ == Ending::kDone;
  lock.unlock();
  if (is_done) {
    service_.join();
  } else {
    service_.detach();
  }
}

Result<Link> Core::link() const {
  const std::lock_guard lock(mutex_);
  if (is_closed.load()) return closed();
  if (state_ == ConnectionState::kConnected)
    return Link{session_,
                session_->requests,
                session_->epoch,
                session_->has_stock(),
                session_->has_sums(),
                session_->has_sync()};
  // What connect() meets names the path.
  const std::string& why = last_error_.message();
  const bool is_named = why.find(options.socket_path) != std::string::npos;
  const std::string where = is_named ? "no daemon: " : "no daemon at " + options.socket_path + ": ";
  return Status(Code::kUnavailable, where + (attempts_count_ == 0 ? "not connected yet" : why));
}

Result<BoundLink> Core::bound_link(const Space& space) const {
  Result<Link> found = link();
  if (!found.is_ok()) return found.status();
  const Binding binding = Binding::unpack(space.binding.load(std::memory_order_acquire));
  if (binding.is_of(found.value().epoch)) return BoundLink{std::move(found).value(), binding};
  const std::lock_guard lock(mutex_);
  if (!space.refusal.is_ok()) return space.refusal.while_doing("the daemon refused the space");
  return Status(Code::kUnavailable, "the space is being registered");
}

std::shared_ptr<Session> Core::session_of(std::uint32_t serial) const {
  const std::lock_guard lock(mutex_);
  if (session_ && session_->serial == serial) return session_;
  for (const auto& session : retired_) {
    if (session->serial == serial) return session;
  }
  return nullptr;
}

Status Core::space_add(const std::shared_ptr<Space>& space, TimeNs deadline_ns) {
  std::unique_lock lock(mutex_);
  if (is_closed.load()) return closed();
  spaces_.reserve(spaces_.size() + 1);
  if (state_ == ConnectionState::kConnected) send_registration(*space);  // else, or again, when reconnected
  spaces_.push_back(space);  // last: what throws above leaves nothing behind
  const auto is_answered = [&] {
    return space->binding.load() != 0 || !space->refusal.is_ok() || state_ != ConnectionState::kConnected;
  };
  (void)wait_locked(lock, is_answered, deadline_ns);
  Status status = is_closed.load() ? closed() : space->refusal;
  if (!status.is_ok()) std::erase(spaces_, space);
  return status;
}

void Core::send_registration(Space& space) {
  std::vector<std::byte> bytes(sizeof(RegisterSpace) + space.encoding.size());
  RegisterSpace message{};
  space.sequence = next_sequence_++;
  message.header = message_header(MessageType::kRegisterSpace, bytes.size(), space.sequence);
  message.spec_bytes = static_cast<std::uint32_t>(space.encoding.size());
  std::copy_n(reinterpret_cast<const std::byte*>(&message), sizeof message, bytes.begin());
  std::copy(space.encoding.begin(), space.encoding.end(), bytes.begin() + sizeof message);
  space.refusal = Status::ok();
  say(bytes);
}

void Core::say(std::span<const std::byte> message) {
  outgoing_.send(session_->socket.get(), message);
  if (!outgoing_.is_empty()) wake_service();  // to wait for room
}

void Core::space_remove(const Space& space) {
  const std::lock_guard lock(mutex_);
  std::erase_if(spaces_, [&](const auto& each) { return each.get() == &space; });
}

Result<std::byte*> Core::lend(const BoundLink& bound, const Grant& grant, std::uint64_t block_bytes,
                              TimeNs deadline_ns) {
  Session& session = *bound.link.session;
  Result<std::byte*> data = Status(Code::kNotFound, "");
  const auto is_decided = [&] {
    // Retired, or the client closed, since the request was sent: nobody may look at its users any more.
    if (session_ != bound.link.session || is_closed.load()) {
      data = or_closed({Code::kUnavailable, "the session is over"});
      return true;
    }
    data = session.mappings.lend(grant, bound.binding.slot_bytes, block_bytes);
    // Under the mutex: whoever takes the session away looks at the count in the same step. relaxed otherwise.
    if (data.is_ok()) session.users.fetch_add(1, std::memory_order_relaxed);
    if (data.is_ok() || data.code() != Code::kNotFound) return true;
    const bool is_over = session.epoch != bound.link.epoch || state_ != ConnectionState::kConnected;
    if (is_over) data = Status(Code::kUnavailable, "the daemon hung up");
    return is_over;
  };
  std::unique_lock lock(mutex_);
  (void)wait_locked(lock, is_decided, deadline_ns);
  return data;
}

bool Core::wait_for_change(const std::function<bool()>& is_true, TimeNs deadline_ns) {
  std::unique_lock lock(mutex_);
  return wait_locked(lock, is_true, deadline_ns);
}

Status Core::or_closed(const Status& status) const {
  const bool may_be_by_close = status.code() == Code::kUnavailable || status.code() == Code::kDeadline;
  return may_be_by_close && is_closed.load() ? closed() : status;
}

void Core::wake_service() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

}  // namespace kvtier::client
