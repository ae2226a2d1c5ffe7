#include "daemon/admin/admin_server.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>

namespace kvtier {
namespace {

constexpr TimeNs kAcceptPauseNs = kNsPerSecond;
constexpr TimeNs kVerifyPauseNs = 10 * kNsPerMs;
constexpr TimeNs kSocketCheckNs = 5 * kNsPerSecond;
constexpr std::size_t kAcceptsPerRound = 8;

}  // namespace

Result<std::unique_ptr<Listener>> AdminServer::listen(const std::string& path, std::optional<gid_t> group) {
  ListenerOptions options;
  options.path = path;
  options.type = SOCK_STREAM;
  options.group = group;
  options.backlog = static_cast<int>(kConnectionsMax);
  return Listener::open(options);
}

Result<std::unique_ptr<AdminServer>> AdminServer::create(AdminServerOptions options,
                                                         std::unique_ptr<Listener> listener,
                                                         Waiter& conductor) {
  Result<Poller> poller = Poller::create();
  if (!poller.is_ok()) return poller.status();
  UniqueFd wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake.is_open()) return Status::from_errno("eventfd", errno);
  KV_RETURN_IF_ERROR(poller.value().add(wake.get(), EPOLLIN | EPOLLET, {PollSource::kWake, 0, 0}));
  KV_RETURN_IF_ERROR(poller.value().add(listener->fd(), EPOLLIN, {PollSource::kListener, 0, 0}));
  return std::unique_ptr<AdminServer>(new AdminServer(std::move(options), conductor, std::move(listener),
                                                      std::move(poller).value(), std::move(wake)));
}

AdminServer::AdminServer(AdminServerOptions options, Waiter& conductor, std::unique_ptr<Listener> listener,
                         Poller poller, UniqueFd wake)
    : own_uid_(::geteuid()),
      listener_(std::move(listener)),
      wake_(std::move(wake)),
      spare_(::eventfd(0, EFD_CLOEXEC)),
      options_(std::move(options)),
      verify_(options_.disk),
      poller_(std::move(poller)),
      port_(*this, conductor) {}

std::size_t AdminServer::do_work(TimeNs now_ns) {
  std::size_t work = poll(now_ns);
  while (configs_.pop(options_.facts.config_json)) ++work;
  work += take_answers(now_ns) + verify_.step();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].connection) work += run(i, now_ns);
  }
  verify_again_ns_ = verify_.is_waiting() ? now_ns + kVerifyPauseNs : kNever;
  return work;
}

// A deleted socket's file is made again, as the engines' is.
void AdminServer::keep_socket(TimeNs now_ns) {
  if (now_ns < socket_check_ns_) return;
  socket_check_ns_ = now_ns + kSocketCheckNs;
  if (!spare_.is_open()) spare_.reset(::eventfd(0, EFD_CLOEXEC));
  if (listener_->is_there()) return;
  poller_.remove(listener_->fd());
  (void)listener_->make_again();  // refused: status says that the file is not there, and it is tried again
  accept_again_ns_ = now_ns;
}

std::size_t AdminServer::poll(TimeNs now_ns) {
  std::size_t work = 0;
  keep_socket(now_ns);
  if (accept_again_ns_ != 0 && accept_again_ns_ <= now_ns) {
    accept_again_ns_ = 0;
    if (!poller_.add(listener_->fd(), EPOLLIN, {PollSource::kListener, 0, 0}).is_ok())
      accept_again_ns_ = now_ns + kAcceptPauseNs;
  }
  for (const PollEvent& event : poller_.wait(0)) {
    if (event.token.source == PollSource::kListener) work += accept(now_ns);
    if (event.token.source != PollSource::kConnection) continue;
    const Place& place = places_[event.token.index];
    if (!place.connection || place.generation != event.token.generation) continue;
    work += place.connection->receive(now_ns);
    if ((event.flags & (EPOLLHUP | EPOLLERR)) != 0) place.connection->break_off();
  }
  return work;
}

std::size_t AdminServer::accept(TimeNs now_ns) {
  for (std::size_t accepted = 0; accepted < kAcceptsPerRound; ++accepted) {
    Result<UniqueFd> socket = listener_->accept();
    if (socket.is_ok()) {
      admit(std::move(socket).value(), now_ns);
      continue;
    }
    if (socket.code() == Code::kBusy) return accepted;
    if (spare_.is_open()) {  // for one administrator, who then sees what is wrong; close() takes it back
      spare_.reset();
      continue;
    }
    poller_.remove(listener_->fd());  // out of descriptors: not again at once
    accept_again_ns_ = now_ns + kAcceptPauseNs;
    return accepted;
  }
  return kAcceptsPerRound;
}

void AdminServer::admit(UniqueFd socket, TimeNs now_ns) {
  Result<Peer> peer = read_peer(socket.get());
  Place* place = find_place();
  if (!peer.is_ok() || place == nullptr) return;  // closed
  const auto index = static_cast<std::uint32_t>(place - places_.data());
  const int fd = socket.get();
  place->generation = (place->generation + 1) & kPollGenerationMask;
  place->connection = std::make_unique<AdminConnection>(std::move(socket), std::move(peer).value(), now_ns);
  place->connection->watched = EPOLLIN;
  if (!poller_.add(fd, EPOLLIN, {PollSource::kConnection, index, place->generation}).is_ok())
    place->connection.reset();
}

// A free place, or that of the peer that has been still for longest: whoever just holds a place loses it to
// whoever asks something.
AdminServer::Place* AdminServer::find_place() {
  Place* stillest = nullptr;
  for (Place& place : places_) {
    if (!place.connection) return &place;
    const auto& job = place.connection->job;
    if (job && (job->is_asking() || job->is_watching() || job->is_looking())) continue;
    if (stillest == nullptr || place.connection->progress_ns() < stillest->connection->progress_ns())
      stillest = &place;
  }
  if (stillest != nullptr) close(static_cast<std::size_t>(stillest - places_.data()));
  return stillest;
}

void AdminServer::update_interest(std::size_t index) {
  AdminConnection& connection = *places_[index].connection;
  const std::uint32_t flags = (connection.wants_input() ? std::uint32_t{EPOLLIN} : 0U) |
                              (connection.has_output() ? std::uint32_t{EPOLLOUT} : 0U);
  if (flags == connection.watched) return;
  const PollToken token{PollSource::kConnection, static_cast<std::uint32_t>(index),
                        places_[index].generation};
  if (!poller_.modify(connection.fd(), flags, token).is_ok()) return close(index);
  connection.watched = flags;
}

void AdminServer::close(std::size_t index) {
  if (places_[index].connection->job) verify_.end(places_[index].connection->job->ticket());
  poller_.remove(places_[index].connection->fd());
  places_[index].connection.reset();
  if (!spare_.is_open()) spare_.reset(::eventfd(0, EFD_CLOEXEC));
}

TimeNs AdminServer::next_deadline_ns() const {
  TimeNs next_ns = std::min(accept_again_ns_ == 0 ? kNever : accept_again_ns_, verify_again_ns_);
  for (const Place& place : places_) {
    if (place.connection) next_ns = std::min(next_ns, place.connection->deadline_ns());
  }
  // now_ns() of the next round: the mailbox of the tier was full.
  return next_ns;
}

// Level-triggered: what ended the wait is found again by the next round.
void AdminServer::wait(TimeNs now_ns, TimeNs until_ns) {
  if (until_ns == kNever) {
    (void)poller_.wait(kNever);
  } else if (until_ns > now_ns) {
    (void)poller_.wait(until_ns - now_ns);
  }
}

void AdminServer::wake() {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);  // full: it is awake already
}

}  // namespace kvtier
