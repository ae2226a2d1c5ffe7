#include "daemon/session/sessions.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include "daemon/session/submissions.h"
#include "libkvclient/wire/message_socket.h"

namespace kvtier {
namespace {

// With unread messages in our queue the kernel would turn the close into a reset, and the peer would read
// that before the refusal. SHUT_RD first: nothing is added behind our back.
void discard_unread(int socket) {
  (void)::shutdown(socket, SHUT_RD);
  for (int i = 0; i < 4096 && ::recv(socket, nullptr, 0, MSG_DONTWAIT | MSG_TRUNC) > 0; ++i) {
  }
}

}  // namespace

Sessions::Sessions(Store& store, Poller poller, std::uint32_t sessions_max, std::uint32_t strangers_max,
                   Log& log)
    : store_(store), poller_(std::move(poller)), table_(sessions_max, strangers_max), log_(log) {}

void Sessions::end(std::uint32_t index, const Status& why) {
  Connection& connection = table_.at(index);
  ++stats_.sessions_ended;
  log_.warn("session ended",
            {{"pid", connection.peer.pid}, {"uid", connection.peer.uid}, {"why", why.message()}});
  (void)connection.outgoing.flush(connection.socket.get(), store_, connection.session);
  (void)send_refused(connection.socket.get(), 0, why);
  close(index);
}

void Sessions::hang_up(std::uint32_t index) {
  Connection& connection = table_.at(index);
  if (connection.session != SessionIndex::kNone) {
    ++stats_.hang_ups;
    take_last_submissions(connection, store_);
  }
  close(index);
}

void Sessions::close(std::uint32_t index) {
  Connection& connection = table_.at(index);
  discard_unread(connection.socket.get());
  const SessionIndex session = connection.session;
  poller_.remove(connection.socket.get());
  if (connection.doorbell.is_open()) poller_.remove(connection.doorbell.get());
  table_.close(index);
  if (session != SessionIndex::kNone) store_.session_hang_up(session);
}

void Sessions::flush(std::uint32_t index) {
  Connection& connection = table_.at(index);
  const Status sent = connection.outgoing.flush(connection.socket.get(), store_, connection.session);
  if (!sent.is_ok() && sent.code() != Code::kBusy) return hang_up(index);
  const std::uint32_t flags = EPOLLRDHUP | (connection.outgoing.holds_back() ? 0U : EPOLLIN) |
                              (connection.outgoing.is_empty() ? 0U : EPOLLOUT);
  if (flags == connection.poll_flags) return;
  connection.poll_flags = flags;
  (void)poller_.modify(connection.socket.get(), flags,
                       {PollSource::kConnection, index, connection.generation});
}

}  // namespace kvtier
