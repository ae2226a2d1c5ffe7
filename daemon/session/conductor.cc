#include "daemon/session/conductor.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>

namespace kvtier {

Result<std::unique_ptr<Conductor>> Conductor::create(const ConductorOptions& options, Store& store, Log& log,
                                                     std::unique_ptr<Listener> listener) {
  Result<Poller> poller = Poller::create();
  if (!poller.is_ok()) return poller.status();
  UniqueFd wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake.is_open()) return Status::from_errno("eventfd", errno);
  std::unique_ptr<Conductor> conductor(
      new Conductor(options, store, log, std::move(listener), std::move(poller).value(), std::move(wake)));
  KV_RETURN_IF_ERROR(conductor->start(options.is_disk_first));
  return conductor;
}

Conductor::Conductor(const ConductorOptions& options, Store& store, Log& log,
                     std::unique_ptr<Listener> listener, Poller poller, UniqueFd wake)
    : sessions_(store, std::move(poller), options.clients_max, Greeter::kStrangersMax, log),
      greeter_(sessions_, std::move(listener), options.namespaces),
      wake_(std::move(wake)) {}

Status Conductor::start(bool is_disk_first) {
  KV_RETURN_IF_ERROR(sessions_.poller().add(wake_.get(), EPOLLIN | EPOLLET, {PollSource::kWake, 0, 0}));
  for (const auto& [session, pidfd] : sessions_.store().adopted_sessions()) {
    UniqueFd own(::fcntl(pidfd, F_DUPFD_CLOEXEC, 0));
    if (!own.is_open()) return Status::from_errno("fcntl(F_DUPFD_CLOEXEC)", errno);
    KV_RETURN_IF_ERROR(sessions_.liveness().watch(session, std::move(own)));
  }
  limit_namespaces(greeter_.namespaces());  // an adopted store has the limits of before
  return greeter_.start(!is_disk_first);
}

std::size_t Conductor::do_work(TimeNs now_ns) {
  std::size_t work = serve(sessions_.poller().wait(0), now_ns);
  work += rings_.run();
  work += sessions_.store().do_work();
  work += delivery_.run();
  if (sessions_.store().disk_is_known()) greeter_.open();
  greeter_.expire(now_ns);
  greeter_.keep_socket(now_ns);
  return work;
}

void Conductor::wait(TimeNs now_ns, TimeNs until_ns) {
  std::span<const PollEvent> events;
  if (!rings_.prepare_sleep()) {
    ++sessions_.stats().sleeps;
    const TimeNs left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    events = sessions_.poller().wait(until_ns == kNever ? kNever : left_ns);
  }
  rings_.finish_sleep();  // before a session of these events can go
  serve(events, now_ns);
}

void Conductor::wake() {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);  // full: it is awake already
}

void Conductor::set_namespaces(std::vector<NamespaceConfig> namespaces) {
  limit_namespaces(namespaces);
  greeter_.set_namespaces(std::move(namespaces));
}

void Conductor::limit_namespaces(const std::vector<NamespaceConfig>& namespaces) {
  for (const NamespaceConfig& each : namespaces)
    sessions_.store().namespace_limit(each.name, each.host_bytes_max);
}

std::size_t Conductor::serve(std::span<const PollEvent> events, TimeNs now_ns) {
  for (const PollEvent& event : events) serve(event, now_ns);
  return events.size();
}

void Conductor::serve(const PollEvent& event, TimeNs now_ns) {
  switch (event.token.source) {
    case PollSource::kListener:
      greeter_.accept(now_ns);
      return;
    case PollSource::kConnection:
      return connection_event(event);
    case PollSource::kProcess:
      return process_event(event);
    case PollSource::kWake:
    case PollSource::kDoorbell:
      return;  // edge-triggered, not read: being awake is the answer
  }
}

void Conductor::connection_event(const PollEvent& event) {
  const std::uint32_t index = event.token.index;
  const Connection* connection = sessions_.table().find(index, event.token.generation);
  if (connection == nullptr) return;
  if (connection->session == SessionIndex::kNone) return greeter_.hear(index);
  if ((event.flags & EPOLLOUT) != 0) sessions_.flush(index);
  if (sessions_.table().find(index, event.token.generation) == nullptr) return;
  if ((event.flags & EPOLLIN) != 0) return control_.serve(index);
  if ((event.flags & (EPOLLHUP | EPOLLRDHUP | EPOLLERR)) != 0) sessions_.hang_up(index);
}

void Conductor::process_event(const PollEvent& event) {
  const SessionIndex session = sessions_.liveness().take_exit(event.token);
  if (session == SessionIndex::kNone) return;
  const std::uint32_t index = sessions_.table().index_of_session(session);
  if (index != ConnectionTable::kNone) sessions_.hang_up(index);  // before its channel goes
  ++sessions_.stats().exits;
  sessions_.store().session_exited(session);
}

TimeNs Conductor::next_deadline_ns() const {
  return std::min(sessions_.store().next_deadline(), greeter_.next_deadline());
}

}  // namespace kvtier
