// The listening socket, and strangers until they have said hello.

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>

#include "daemon/session/greeter.h"
#include "libkvclient/base/fault_point.h"
#include "libkvclient/base/units.h"

namespace kvtier {

Status Greeter::start(bool is_open) {
  is_open_ = is_open;
  return sessions_.poller().add(listener_->fd(), is_open ? std::uint32_t{EPOLLIN} : 0,
                                {PollSource::kListener, 0, 0});
}

void Greeter::open() {
  if (is_open_) return;
  // Not open: asked again in the next round.
  is_open_ = sessions_.poller().modify(listener_->fd(), EPOLLIN, {PollSource::kListener, 0, 0}).is_ok();
}

std::size_t Greeter::accept(TimeNs now_ns) {
  if (now_ns < accept_paused_until_ns_) return 0;
  int accepted = 0;
  while (accepted < kAcceptsPerTurn) {
    Result<UniqueFd> socket = listener_->accept();
    if (socket.is_ok()) {
      ++accepted;
      admit(std::move(socket).value(), now_ns);
      continue;
    }
    if (socket.code() == Code::kNoSpace && turn_away(socket.status())) {
      ++accepted;
      continue;
    }
    if (socket.code() != Code::kBusy) {  // level-triggered: without a pause this would spin
      accept_paused_until_ns_ = now_ns + kAcceptPauseNs;
      (void)sessions_.poller().modify(listener_->fd(), 0, {PollSource::kListener, 0, 0});
      sessions_.log().warn("accepting paused", {{"why", socket.status().message()}});
    }
    break;
  }
  return static_cast<std::size_t>(accepted);
}

// With the spare descriptor: who connects hears why nobody serves it, instead of nothing.
bool Greeter::turn_away(const Status& why) {
  if (!spare_.is_open()) return false;
  spare_.reset();
  Result<UniqueFd> socket = listener_->accept();
  const bool is_there = socket.is_ok();
  if (is_there) {
    ++sessions_.stats().hellos_refused;
    const Result<Peer> peer = read_peer(socket.value().get());
    sessions_.log().warn("client refused",
                         {{"pid", peer.is_ok() ? peer.value().pid : 0U}, {"why", why.message()}});
    (void)send_refused(socket.value().get(), 0, why);
    socket.value().reset();
  }
  spare_.reset(::eventfd(0, EFD_CLOEXEC));
  return is_there;
}

// Tidiers of /run delete files that nobody wrote to for long; without this no engine comes in until a restart.
void Greeter::keep_socket(TimeNs now_ns) {
  if (now_ns < socket_check_ns_) return;
  socket_check_ns_ = now_ns + kSocketCheckNs;
  if (listener_->is_there()) return;
  sessions_.poller().remove(listener_->fd());
  const Status made = listener_->make_again();
  accept_paused_until_ns_ = 0;
  const Status watched = start(is_open_);
  const Status& why = made.is_ok() ? watched : made;
  if (why.is_ok()) {
    sessions_.log().warn("the socket was deleted and is made again", {{"path", listener_->path()}});
  } else {
    sessions_.log().error("the socket was deleted and cannot be made again: nobody can connect",
                          {{"path", listener_->path()}, {"why", why.message()}});
  }
}

void Greeter::admit(UniqueFd socket, TimeNs now_ns) {
  if (KV_FAULT("session.accept") == Fault::kFail) return;
  ++sessions_.stats().connections_accepted;
  Result<Peer> peer = read_peer(socket.get());
  if (!peer.is_ok()) return;
  ConnectionTable& table = sessions_.table();
  if (table.is_full_of_strangers()) {
    ++sessions_.stats().hellos_timed_out;
    refuse(table.strangers().front(), 0, {Code::kBusy, "too many connections wait for their hello"});
  }
  const std::uint32_t index =
      table.open(std::move(socket), std::move(peer).value(), now_ns + kHelloDeadlineNs);
  if (index == ConnectionTable::kNone) return;
  Connection& connection = table.at(index);
  connection.poll_flags = EPOLLIN | EPOLLRDHUP;
  const PollToken token{PollSource::kConnection, index, connection.generation};
  if (!sessions_.poller().add(connection.socket.get(), connection.poll_flags, token).is_ok())
    table.close(index);
}

void Greeter::expire(TimeNs now_ns) {
  if (accept_paused_until_ns_ != 0 && now_ns >= accept_paused_until_ns_) {
    accept_paused_until_ns_ = 0;
    (void)sessions_.poller().modify(listener_->fd(), EPOLLIN, {PollSource::kListener, 0, 0});
  }
  const std::vector<std::uint32_t>& strangers = sessions_.table().strangers();
  while (!strangers.empty()) {
    const std::uint32_t oldest = strangers.front();
    if (sessions_.table().at(oldest).hello_deadline_ns > now_ns) return;
    ++sessions_.stats().hellos_timed_out;
    refuse(oldest, 0, {Code::kDeadline, "no hello within " + format_duration(kHelloDeadlineNs)});
  }
}

TimeNs Greeter::next_deadline() const {
  const TimeNs resume_accept = accept_paused_until_ns_ == 0 ? kNever : accept_paused_until_ns_;
  const std::vector<std::uint32_t>& strangers = sessions_.table().strangers();
  if (strangers.empty()) return resume_accept;
  return std::min(resume_accept, sessions_.table().at(strangers.front()).hello_deadline_ns);
}

}  // namespace kvtier
