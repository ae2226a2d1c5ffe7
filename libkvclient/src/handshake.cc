#include "libkvclient/src/handshake.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "libkvclient/base/fault_point.h"
#include "libkvclient/src/deadline.h"

namespace kvtier::client {
namespace {

template <std::size_t N>
void copy_name(char (&to)[N], const std::string& from) {
  std::memcpy(to, from.data(), std::min(from.size(), N - 1));
}

std::string version_text(std::uint32_t major, std::uint32_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

std::string own_version() {
  return "client " KVTIER_VERSION " speaks protocol " + version_text(kProtocolMajor, kProtocolMinor);
}

// Cause and fix, by what connect() meets.
Status cannot_connect(const std::string& path, int error) {
  const std::string start = "; start kvtierd, or name its socket in KVTIER_SOCKET or socket_path";
  switch (error) {
    case EACCES:
    case EPERM:
      return {Code::kDenied, "no permission to connect to " + path +
                                 "; run as a member of the group that owns it (the setting socket_group)"};
    case ENOENT:
    case ENOTDIR:
      return {Code::kUnavailable, "there is no socket " + path + start};
    case ECONNREFUSED:
      return {Code::kUnavailable, "nobody listens on " + path + start};
    case EPROTOTYPE:
      return {Code::kUnavailable,
              path + " is of another kind than the engines' socket, as kvctl's admin_socket is" +
                  "; name the one of kvtierd's setting `socket` in KVTIER_SOCKET or socket_path"};
    case EAGAIN:
      return {Code::kUnavailable,
              "the daemon takes no connections at " + path + " now: its queue is full, or it hangs"};
    default:
      return {Code::kUnavailable, Status::from_errno("connect to " + path, error).message()};
  }
}

Result<UniqueFd> connect_to(const std::string& path) {
  // Non-blocking: a full backlog of a stopped daemon is an answer, not a wait.
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return Status::from_errno("socket", errno);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  return cannot_connect(path, errno);
}

Hello make_hello(const ClientOptions& options, const ResumeProof& proof) {
  Hello hello{};
  hello.header = message_header(MessageType::kHello, sizeof hello, 1);
  hello.protocol_major = kProtocolMajor;
  hello.protocol_minor = kProtocolMinor;
  hello.pid = static_cast<std::uint32_t>(::getpid());
  hello.flags = options.is_read_only ? kHelloReadOnly : 0;
  hello.resume_session = proof.session_id;
  hello.resume_secret[0] = proof.secret[0];
  hello.resume_secret[1] = proof.secret[1];
  copy_name(hello.client_version, KVTIER_VERSION);
  copy_name(hello.client_name, options.client_name);
  copy_name(hello.namespace_name, options.namespace_name);
  return hello;
}

void drain(int wake_fd) {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_fd, &count, sizeof count);
}

Result<Message> receive_until(int socket, TimeNs deadline_ns, const Interruption& interruption) {
  while (true) {
    Result<Message> message = receive_message(socket);
    if (message.is_ok() || message.code() != Code::kBusy) return message;
    pollfd fds[2] = {{socket, POLLIN, 0}, {interruption.wake_fd, POLLIN, 0}};
    const int ready = ::poll(fds, 2, poll_timeout_ms(deadline_ns));
    if (ready == 0) return Status(Code::kUnavailable, "the daemon accepts connections but does not answer");
    // Emptied first, then asked: a close after the question wakes again. What else the wake-ups were for is
    // looked at when the handshake is over.
    if (fds[1].revents != 0) drain(interruption.wake_fd);
    if (interruption.is_closed.load()) return Status(Code::kUnavailable, "the client is closing");
  }
}

Status read_refusal(const Message& message) {
  Refused refused{};
  if (!message.read(refused))
    return {Code::kUnavailable, "the daemon refused in a message that is too short"};
  const auto text = message.tail<Refused>();
  const std::size_t length = std::min<std::size_t>(text.size(), refused.text_bytes);
  std::string reason(reinterpret_cast<const char*>(text.data()), length);
  if (refused.code == Code::kOk) return {Code::kUnavailable, reason};
  if (refused.code == Code::kVersion) reason += " (" + own_version() + ")";
  return {refused.code, reason};
}

Status check_welcome(const Message& message, const Welcome& welcome) {
  if (welcome.protocol_major != kProtocolMajor) {
    return {Code::kVersion,
            own_version() + "; daemon " +
                std::string(welcome.daemon_version, ::strnlen(welcome.daemon_version, kVersionBytes)) +
                " speaks " + version_text(welcome.protocol_major, welcome.protocol_minor)};
  }
  if (message.fds.size() != 3) {
    return {Code::kUnavailable, "the daemon's welcome has " + std::to_string(message.fds.size()) +
                                    " descriptors where 3 are due"};
  }
  return Status::ok();
}

// Does not repeat the name, which may be of any length and content.
Status check_name(const std::string& field, const std::string& name) {
  if (name.size() >= kNameBytes) {
    return {Code::kInvalid, field + " has " + std::to_string(name.size()) + " bytes; at most " +
                                std::to_string(kNameBytes - 1)};
  }
  const auto wrong = std::ranges::find_if(name, [](char each) { return !is_printable(each); });
  if (wrong == name.end()) return Status::ok();
  return {Code::kInvalid, field + " may have printable ASCII characters only, unlike its byte " +
                              std::to_string(wrong - name.begin())};
}

}  // namespace

Result<Handshake> shake_hands(const ClientOptions& options, const ResumeProof& proof, TimeNs deadline_ns,
                              const Interruption& interruption) {
  Result<UniqueFd> socket = connect_to(options.socket_path);
  if (!socket.is_ok()) return socket.status();
  if (KV_FAULT("client.handshake.connected") == Fault::kFail)
    return Status(Code::kUnavailable, "fault point");
  KV_RETURN_IF_ERROR(
      send_message(socket.value().get(), make_hello(options, proof)).while_doing("saying hello"));
  (void)KV_FAULT("client.handshake.after_hello");
  Result<Message> message = receive_until(socket.value().get(), deadline_ns, interruption);
  // Whatever a peer sent that is not our protocol: nobody whom we could talk to is there.
  if (!message.is_ok()) return Status(Code::kUnavailable, message.status().message());
  if (message.value().header().type == MessageType::kRefused) return read_refusal(message.value());
  Handshake result;
  if (message.value().header().type != MessageType::kWelcome || !message.value().read(result.welcome)) {
    return Status(Code::kUnavailable, "the daemon's first message is no welcome");
  }
  KV_RETURN_IF_ERROR(check_welcome(message.value(), result.welcome));
  (void)KV_FAULT("client.handshake.after_welcome");
  result.socket = std::move(socket).value();
  result.fds = std::move(message.value().fds);
  return result;
}

Status check_options(const ClientOptions& options) {
  if (options.socket_path.size() >= sizeof(sockaddr_un{}.sun_path)) {
    return {Code::kInvalid,
            "socket_path has " + std::to_string(options.socket_path.size()) + " bytes; at most 107"};
  }
  if (options.namespace_name.empty())
    return {Code::kInvalid, "namespace_name is empty; NULL means \"default\""};
  KV_RETURN_IF_ERROR(check_name("namespace_name", options.namespace_name));
  return check_name("client_name", options.client_name);
}

}  // namespace kvtier::client
