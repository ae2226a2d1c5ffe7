#include "daemon/session/send_queue.h"

#include <array>
#include <cstring>

#include "libkvclient/base/fault_point.h"
#include "libkvclient/wire/message_socket.h"

namespace kvtier {
namespace {

// A slab that went away since it was announced is skipped: its removal was never due to this client.
Status send_slab(int socket, Store& store, SessionIndex session, SlabIndex slab) {
  Result<SlabGrant> grant = store.slab_grant(session, slab);
  if (!grant.is_ok()) return Status::ok();
  SlabAdd message = grant.value().message;
  message.header = message_header(MessageType::kSlabAdd, sizeof message, 0);
  const std::array<int, 2> fds{grant.value().data_fd, grant.value().table_fd};
  return send_message(socket, message, fds);
}

Status send_directory(int socket, Store& store, SessionIndex session) {
  const DirectoryGrant grant = store.directory_grant(session);
  if (grant.fd < 0) return Status::ok();
  DirectoryMoved message{};
  message.header = message_header(MessageType::kDirectoryMoved, sizeof message, 0);
  message.directory_bytes = grant.bytes;
  message.epoch = grant.epoch;
  const std::array<int, 1> fds{grant.fd};
  return send_message(socket, message, fds);
}

}  // namespace

bool SendQueue::append(Waiting waiting) {
  if (waiting_.size() >= kMessagesMax) return false;
  waiting_.push_back(std::move(waiting));
  return true;
}

bool SendQueue::add_bytes(std::vector<std::byte> bytes) {
  return append({Kind::kBytes, std::move(bytes), SlabIndex::kNone});
}

bool SendQueue::add_slab(SlabIndex slab) {
  return append({Kind::kSlab, {}, slab});
}

bool SendQueue::add_directory() {
  return append({Kind::kDirectory, {}, SlabIndex::kNone});
}

bool SendQueue::add_refused(std::uint32_t sequence, const Status& why) {
  return add_bytes(refused_message(sequence, why));
}

Status SendQueue::send(const Waiting& next, int socket, Store& store, SessionIndex session) {
  switch (next.kind) {
    case Kind::kSlab:
      return send_slab(socket, store, session, next.slab);
    case Kind::kDirectory:
      return send_directory(socket, store, session);
    case Kind::kBytes:
      break;
  }
  return send_message(socket, std::span(next.bytes), {});
}

Status SendQueue::flush(int socket, Store& store, SessionIndex session) {
  while (!waiting_.empty()) {
    if (KV_FAULT("session.deliver") == Fault::kFail)
      return {Code::kUnavailable, "fault point session.deliver"};
    KV_RETURN_IF_ERROR(send(waiting_.front(), socket, store, session));
    waiting_.pop_front();
  }
  return Status::ok();
}

}  // namespace kvtier
