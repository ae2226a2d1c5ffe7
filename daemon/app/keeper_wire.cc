#include "daemon/app/keeper_wire.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace kvtier {

KeeperRecord keeper_record(KeeperOp op, std::string_view name) {
  KeeperRecord record;
  record.op = op;
  name.copy(record.name.data(), record.name.size() - 1);
  return record;
}

std::string_view keeper_name(const KeeperRecord& record) {
  const std::string_view all(record.name.data(), record.name.size());
  return all.substr(0, all.find('\0'));
}

Status keeper_send(int socket, const KeeperRecord& record, int fd) {
  iovec part{const_cast<KeeperRecord*>(&record), sizeof record};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  if (fd >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  while (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
    if (errno == EINTR) continue;
    if (errno == EPIPE || errno == ECONNRESET) return {Code::kUnavailable, "kvtier-keeper is gone"};
    return Status::from_errno("sendmsg to kvtier-keeper", errno);
  }
  return Status::ok();
}

Result<KeeperMessage> keeper_receive(int socket) {
  KeeperMessage result;
  iovec part{&result.record, sizeof result.record};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t received = 0;
  do {
    received = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received < 0) return Status::from_errno("recvmsg", errno);
  if (received == 0) return Status(Code::kUnavailable, "the other side is gone");
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    result.fd.reset(fd);
  }
  if (received != sizeof result.record) return Status(Code::kInvalid, "a record of another length");
  if (result.record.version != kKeeperVersion) {
    return Status(Code::kVersion,
                  "kvtierd and kvtier-keeper are of different versions: install both from one build");
  }
  return result;
}

}  // namespace kvtier
