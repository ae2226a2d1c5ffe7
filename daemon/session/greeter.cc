#include "daemon/session/greeter.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "daemon/session/descriptor_room.h"
#include "libkvclient/base/fault_point.h"
#include "libkvclient/wire/message_socket.h"

namespace kvtier {

Greeter::Greeter(Sessions& sessions, std::unique_ptr<Listener> listener,
                 std::vector<NamespaceConfig> namespaces)
    : sessions_(sessions),
      listener_(std::move(listener)),
      takes_pidfds_(!has_peer_pidfd()),
      namespaces_(std::move(namespaces)),
      spare_(::eventfd(0, EFD_CLOEXEC)) {}

void Greeter::refuse(std::uint32_t index, std::uint32_t sequence, const Status& why) {
  Connection& connection = sessions_.table().at(index);
  ++sessions_.stats().hellos_refused;
  sessions_.log().warn("client refused",
                       {{"pid", connection.peer.pid}, {"uid", connection.peer.uid}, {"why", why.message()}});
  (void)send_refused(connection.socket.get(), sequence, why);
  sessions_.hang_up(index);
}

void Greeter::hear(std::uint32_t index) {
  Connection& connection = sessions_.table().at(index);
  Result<Message> message =
      receive_message(connection.socket.get(), takes_pidfds_ ? TakeFds::kTake : TakeFds::kDrop);
  if (!message.is_ok()) {
    if (message.code() == Code::kBusy) return;
    if (message.code() == Code::kInvalid) return refuse(index, 0, message.status());
    return sessions_.hang_up(index);
  }
  const std::uint32_t sequence = message.value().header().sequence;
  const Result<HelloRequest> hello = decode_hello(message.value());
  if (!hello.is_ok()) return refuse(index, sequence, hello.status());
  std::vector<UniqueFd>& fds = message.value().fds;
  if (fds.size() > 1) return refuse(index, sequence, {Code::kInvalid, "hello: more than one descriptor"});
  UniqueFd offered = fds.empty() ? UniqueFd() : std::move(fds.front());
  const Status greeted = greet(index, hello.value(), sequence, std::move(offered));
  if (!greeted.is_ok()) refuse(index, sequence, greeted);
}

Status Greeter::greet(std::uint32_t index, const HelloRequest& hello, std::uint32_t sequence,
                      UniqueFd offered) {
  Admission admission;
  Connection& connection = sessions_.table().at(index);
  KV_RETURN_IF_ERROR(prepare(connection, hello, std::move(offered), admission));
  KV_RETURN_IF_ERROR(open_session(hello, admission));
  // Before the client has the channel: whoever pins is watched, by the next instance too.
  Status welcomed = watch(admission);
  if (welcomed.is_ok()) {
    admission.rings.emplace(admission.grant.channel);  // before the client knows: it may submit at once
    welcomed = welcome(connection, sequence, admission);
  }
  if (welcomed.is_ok()) return settle(index, std::move(admission));
  take_back(admission);
  return welcomed;
}

// A resumed session is watched since it was opened or adopted, and its pidfd is stored.
Status Greeter::watch(Admission& admission) {
  if (admission.is_resumed) return Status::ok();
  const SessionIndex session = admission.grant.session;
  sessions_.store().session_keep_pidfd(session, admission.pidfd.get());
  return sessions_.liveness().watch(session, std::move(admission.pidfd));
}

// The client was not told. A new session's channel is nobody's; a resumed one is its process's still, which
// may ask again.
void Greeter::take_back(const Admission& admission) {
  const SessionIndex session = admission.grant.session;
  sessions_.store().session_hang_up(session);
  if (admission.is_resumed) return;
  sessions_.liveness().forget(session);
  sessions_.store().session_exited(session);
}

Status Greeter::prepare(const Connection& connection, const HelloRequest& hello, UniqueFd offered,
                        Admission& admission) {
  if (KV_FAULT("session.hello") == Fault::kFail) return {Code::kUnavailable, "fault point session.hello"};
  const Result<NamespaceAccess> access = find_access(namespaces_, hello.namespace_name, connection.peer);
  if (!access.is_ok()) return access.status();
  if (sessions_.table().is_full_of_sessions())
    return {Code::kBusy, "all places for clients are taken; raise limits.clients_max"};
  KV_RETURN_IF_ERROR(check_descriptor_room(connection.socket.get()));
  Result<UniqueFd> pidfd = find_peer_pidfd(connection.socket.get(), connection.peer, std::move(offered));
  if (!pidfd.is_ok()) return pidfd.status();
  admission.pidfd = std::move(pidfd).value();
  admission.doorbell = UniqueFd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!admission.doorbell.is_open()) return Status::from_errno("eventfd", errno);
  admission.request = {.namespace_name = hello.namespace_name,
                       .namespace_bytes_max = access.value().settings->host_bytes_max,
                       .client_name = hello.client_name,
                       .client_version = hello.client_version,
                       .pid = connection.peer.pid,
                       .uid = connection.peer.uid,
                       .is_read_only = hello.is_read_only || access.value().is_read_only};
  return Status::ok();
}

// A session that cannot be taken up (another instance, another process, another secret) becomes a new one;
// the old one's memory follows its own process.
Status Greeter::open_session(const HelloRequest& hello, Admission& admission) {
  Store& store = sessions_.store();
  const SessionIndex old = hello.resume_session == 0
                               ? SessionIndex::kNone
                               : store.session_proved(hello.resume_session, hello.resume_secret);
  if (old != SessionIndex::kNone && is_same_process(old, admission.pidfd.get())) {
    Result<SessionGrant> resumed =
        store.session_resume(hello.resume_session, hello.resume_secret, admission.request);
    admission.is_resumed = resumed.is_ok();
    if (resumed.is_ok()) {
      admission.grant = resumed.value();
      return Status::ok();
    }
  }
  Result<SessionGrant> opened = store.session_open(admission.request);
  if (!opened.is_ok()) return opened.status();
  admission.grant = opened.value();
  return Status::ok();
}

// The pins of a session are its process's: a child that inherited the secret does not take them over.
bool Greeter::is_same_process(SessionIndex session, int pidfd) {
  const int watched = sessions_.liveness().pidfd_of(session);
  return watched >= 0 && are_same_process(watched, pidfd);
}

Status Greeter::welcome(Connection& connection, std::uint32_t sequence, const Admission& admission) {
  if (KV_FAULT("session.welcome") == Fault::kFail) return {Code::kUnavailable, "fault point session.welcome"};
  const SessionGrant& grant = admission.grant;
  Welcome message{};
  message.header = message_header(MessageType::kWelcome, sizeof message, sequence);
  message.protocol_major = kProtocolMajor;
  message.protocol_minor = kProtocolMinor;
  message.session_id = grant.session_id;
  std::memcpy(message.secret, grant.secret, sizeof message.secret);
  std::memcpy(message.instance, grant.instance, sizeof message.instance);
  message.channel_bytes = grant.channel_bytes;
  message.directory_bytes = grant.directory_bytes;
  message.namespace_id = index_of(grant.namespace_id);
  message.flags =
      (admission.request.is_read_only ? kWelcomeReadOnly : 0) | (admission.is_resumed ? kWelcomeResumed : 0);
  std::strncpy(message.daemon_version, KVTIER_VERSION, kVersionBytes - 1);
  const std::array<int, 3> fds{grant.channel_fd, grant.directory_fd, admission.doorbell.get()};
  return send_message(connection.socket.get(), message, fds);
}

// The doorbell is edge-triggered and never read: its file is shared with the client, who could make a read
// block.
Status Greeter::settle(std::uint32_t index, Admission admission) {
  ConnectionTable& table = sessions_.table();
  Connection& connection = table.at(index);
  const SessionIndex session = admission.grant.session;
  connection.doorbell = std::move(admission.doorbell);
  connection.rings = admission.rings;
  table.bind_session(index, session);
  KV_RETURN_IF_ERROR(sessions_.poller().add(connection.doorbell.get(), EPOLLIN | EPOLLET,
                                            {PollSource::kDoorbell, index, connection.generation}));
  for (const SlabIndex slab : sessions_.store().slabs_of(session)) (void)connection.outgoing.add_slab(slab);
  sessions_.flush(index);
  return Status::ok();
}

}  // namespace kvtier
