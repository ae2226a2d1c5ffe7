#include "tests/system/wire_client.h"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace kvtier::test {
namespace {

constexpr TimeNs kAnswerNs = 10 * kNsPerSecond;

bool wait_readable(int socket, TimeNs deadline_ns) {
  const TimeNs now_ns = SystemClock().now_ns();
  if (now_ns >= deadline_ns) return false;
  pollfd entry{socket, POLLIN, 0};
  return ::poll(&entry, 1, static_cast<int>((deadline_ns - now_ns) / kNsPerMs) + 1) > 0;
}

}  // namespace

Hello make_hello(const std::string& namespace_name) {
  Hello hello{};
  hello.header = message_header(MessageType::kHello, sizeof hello, 1);
  hello.protocol_major = kProtocolMajor;
  hello.protocol_minor = kProtocolMinor;
  hello.pid = static_cast<std::uint32_t>(::getpid());
  std::strncpy(hello.client_version, KVTIER_VERSION, sizeof hello.client_version - 1);
  std::strncpy(hello.client_name, "wire-client", sizeof hello.client_name - 1);
  std::strncpy(hello.namespace_name, namespace_name.c_str(), sizeof hello.namespace_name - 1);
  return hello;
}

UniqueFd connect_to(const std::string& path, int type) {
  UniqueFd socket(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return {};
  return socket;
}

Result<Message> receive_within(int socket, TimeNs timeout_ns) {
  const TimeNs deadline_ns = SystemClock().now_ns() + timeout_ns;
  while (wait_readable(socket, deadline_ns)) {
    Result<Message> message = receive_message(socket);
    if (message.code() != Code::kBusy) return message;
  }
  return Status(Code::kDeadline, "no message came");
}

bool closes_within(int socket, TimeNs timeout_ns) {
  const TimeNs deadline_ns = SystemClock().now_ns() + timeout_ns;
  while (SystemClock().now_ns() < deadline_ns) {
    if (receive_within(socket, timeout_ns).code() == Code::kUnavailable) return true;
  }
  return false;
}

std::string refusal_text(const Message& message) {
  if (message.header().type != MessageType::kRefused) return {};
  const std::span<const std::byte> text = message.tail<Refused>();
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

Code refusal_code(const Message& message) {
  Refused refused{};
  return message.header().type == MessageType::kRefused && message.read(refused) ? refused.code : Code::kOk;
}

Result<std::unique_ptr<WireClient>> WireClient::open(const std::string& path,
                                                     const std::string& namespace_name) {
  return open(path, make_hello(namespace_name));
}

Result<std::unique_ptr<WireClient>> WireClient::open(const std::string& path, const Hello& hello) {
  UniqueFd socket = connect_to(path, SOCK_SEQPACKET);
  if (!socket.is_open()) return Status::from_errno("connect", errno);
  KV_RETURN_IF_ERROR(send_message(socket.get(), hello));
  return adopt(std::move(socket));
}

Result<std::unique_ptr<WireClient>> WireClient::adopt(UniqueFd socket) {
  Result<Message> answer = receive_within(socket.get(), kAnswerNs);
  if (!answer.is_ok()) return answer.status();
  const std::string refusal = refusal_text(answer.value());
  if (!refusal.empty()) return Status(refusal_code(answer.value()), refusal);
  Welcome welcome{};
  if (!answer.value().read(welcome) || answer.value().fds.size() != 3)
    return Status(Code::kInvalid, "not a welcome with three descriptors");
  Result<ShmMapping> channel =
      ShmMapping::map(answer.value().fds[0].get(), welcome.channel_bytes, ShmAccess::kReadWrite);
  if (!channel.is_ok()) return channel.status();
  return std::unique_ptr<WireClient>(
      new WireClient(std::move(socket), welcome, std::move(answer.value().fds), std::move(channel).value()));
}

WireClient::WireClient(UniqueFd socket, const Welcome& welcome, std::vector<UniqueFd> fds, ShmMapping channel)
    : socket_(std::move(socket)),
      welcome_(welcome),
      channel_fd_(std::move(fds[0])),
      directory_fd_(std::move(fds[1])),
      doorbell_(std::move(fds[2])),
      channel_(std::move(channel)),
      submissions_(channel_.data() + ChannelLayout::kSubmissions, header().submission_tail,
                   header().submission_head, header().submission_tail.load()),
      completions_(channel_.data() + ChannelLayout::kCompletions, header().completion_tail,
                   header().completion_head, header().completion_tail.load()) {}

RingResult WireClient::submit(const Submission& submission) {
  const RingResult result = submissions_.push(submission);
  if (header().daemon_sleeps.load(std::memory_order_seq_cst) != 0) ring_doorbell();
  return result;
}

void WireClient::ring_doorbell() const {
  const std::uint64_t one = 1;
  (void)!::write(doorbell_.get(), &one, sizeof one);
}

Result<Completion> WireClient::take_completion(TimeNs timeout_ns) {
  const SystemClock clock;
  const TimeNs deadline_ns = clock.now_ns() + timeout_ns;
  Completion completion{};
  while (true) {
    const RingResult result = completions_.pop(completion);
    if (result == RingResult::kDone) return completion;
    if (result == RingResult::kBroken) return Status(Code::kCorrupt, "the daemon's tail is broken");
    if (clock.now_ns() >= deadline_ns) return Status(Code::kDeadline, "no completion came");
    ::sched_yield();
  }
}

RingResult WireClient::submit_echo(std::uint32_t request_id) {
  Submission echo{};
  echo.op = Op::kEcho;
  echo.request_id = request_id;
  echo.arena_offset = kNoArena;
  return submit(echo);
}

bool WireClient::echoes_within(TimeNs timeout_ns) {
  const std::uint32_t id = next_request_++;
  if (submit_echo(id) != RingResult::kDone) return false;
  const TimeNs deadline_ns = SystemClock().now_ns() + timeout_ns;
  while (SystemClock().now_ns() < deadline_ns) {
    const Result<Completion> answer = take_completion(timeout_ns);
    if (answer.is_ok() && answer.value().request_id == id) return answer.value().code == Code::kOk;
  }
  return false;
}

void WireClient::register_space(std::span<const std::byte> encoding, std::uint32_t sequence) const {
  std::vector<std::byte> bytes(sizeof(RegisterSpace) + encoding.size());
  RegisterSpace request{};
  request.header = message_header(MessageType::kRegisterSpace, bytes.size(), sequence);
  request.spec_bytes = static_cast<std::uint32_t>(encoding.size());
  std::memcpy(bytes.data(), &request, sizeof request);
  std::memcpy(bytes.data() + sizeof request, encoding.data(), encoding.size());
  (void)send_message(socket_.get(), bytes, {});
}

}  // namespace kvtier::test
