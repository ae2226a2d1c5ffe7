#include "libkvclient/wire/message_socket.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace kvtier {
namespace {

using ControlBuffer = std::array<std::byte, CMSG_SPACE(sizeof(int) * kMessageFdsMax)>;

void put_fds(msghdr& message, std::span<std::byte> control, std::span<const int> fds) {
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
  cmsghdr* part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
  std::memcpy(CMSG_DATA(part), fds.data(), sizeof(int) * fds.size());
}

void take_fds(msghdr& message, std::vector<UniqueFd>& fds) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
}

// The kernel cuts the list where the buffer ends, or where this process may have no more.
Status lost_descriptors(std::size_t received) {
  if (received >= kMessageFdsMax) {
    return {Code::kInvalid,
            "a message carries more descriptors than the " + std::to_string(kMessageFdsMax) + " allowed"};
  }
  return {Code::kInvalid,
          "a message's descriptors did not arrive: this process may have no more open files; raise the "
          "limit (ulimit -n, LimitNOFILE=), or close some"};
}

Status check_received(const Message& message, int flags, TakeFds policy) {
  if (policy == TakeFds::kTake && (flags & MSG_CTRUNC) != 0) return lost_descriptors(message.fds.size());
  if ((flags & MSG_TRUNC) != 0) {
    return {Code::kInvalid, "a message is longer than " + std::to_string(kMessageBytesMax) + " bytes"};
  }
  MessageHeader header{};
  if (!message.read(header)) {
    return {Code::kInvalid,
            "a message of " + std::to_string(message.bytes.size()) + " bytes is shorter than its header"};
  }
  if (header.magic != kMessageMagic) return {Code::kInvalid, "a message without the protocol's magic number"};
  if (header.bytes != message.bytes.size()) {
    return {Code::kInvalid, "a message says " + std::to_string(header.bytes) + " bytes and has " +
                                std::to_string(message.bytes.size())};
  }
  return Status::ok();
}

}  // namespace

MessageHeader Message::header() const {
  MessageHeader header{};
  KV_CHECK(read(header), "a received message has a header");
  return header;
}

MessageHeader message_header(MessageType type, std::size_t bytes, std::uint32_t sequence) {
  return {kMessageMagic, type, 0, static_cast<std::uint32_t>(bytes), sequence};
}

Status send_message(int socket, std::span<const std::byte> bytes, std::span<const int> fds) {
  KV_CHECK(bytes.size() <= kMessageBytesMax && fds.size() <= kMessageFdsMax, "control messages are bounded");
  iovec vector{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  alignas(cmsghdr) ControlBuffer control{};
  if (!fds.empty()) put_fds(message, control, fds);
  while (true) {
    if (::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return Status::ok();
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ETOOMANYREFS)
      return {Code::kBusy, "the peer does not read its socket"};
    if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN)
      return {Code::kUnavailable, "the peer is gone"};
    return Status::from_errno("sendmsg", errno);
  }
}

std::vector<std::byte> refused_message(std::uint32_t sequence, const Status& why) {
  const std::string& text = why.message();
  const std::size_t length = std::min<std::size_t>(text.size(), kMessageBytesMax - sizeof(Refused));
  std::vector<std::byte> bytes(sizeof(Refused) + length);
  Refused refused{};
  refused.header = message_header(MessageType::kRefused, bytes.size(), sequence);
  refused.code = why.code();
  refused.text_bytes = static_cast<std::uint32_t>(length);
  std::memcpy(bytes.data(), &refused, sizeof refused);
  std::memcpy(bytes.data() + sizeof refused, text.data(), length);
  return bytes;
}

Status send_refused(int socket, std::uint32_t sequence, const Status& why) {
  return send_message(socket, refused_message(sequence, why), {});
}

Result<Message> receive_message(int socket, TakeFds policy) {
  Message result;
  result.bytes.resize(kMessageBytesMax);
  iovec vector{result.bytes.data(), result.bytes.size()};
  alignas(cmsghdr) ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  if (policy == TakeFds::kTake) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
  ssize_t received = -1;
  do {
    received = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) return Status(Code::kBusy, "no message");
    if (errno == ECONNRESET || errno == ENOTCONN) return Status(Code::kUnavailable, "the peer hung up");
    return Status::from_errno("recvmsg", errno);
  }
  take_fds(message, result.fds);
  if (received == 0) return Status(Code::kUnavailable, "the peer hung up");
  result.bytes.resize(static_cast<std::size_t>(received));
  const Status status = check_received(result, message.msg_flags, policy);
  if (!status.is_ok()) return status;
  return result;
}

}  // namespace kvtier
