#include "daemon/session/control.h"

#include <string>

namespace kvtier {
namespace {

Status wrong_size(const char* what, std::size_t has, std::size_t needs) {
  return {Code::kInvalid,
          std::string(what) + ": has " + std::to_string(has) + " bytes, needs " + std::to_string(needs)};
}

template <class T>
Status read_exactly(const char* what, const Message& message, T& out) {
  if (message.bytes.size() != sizeof(T)) return wrong_size(what, message.bytes.size(), sizeof(T));
  (void)message.read(out);
  return Status::ok();
}

}  // namespace

void Control::serve(std::uint32_t index) {
  Connection& connection = sessions_.table().at(index);
  const std::uint32_t generation = connection.generation;
  for (int i = 0; i < kMessagesPerTurn && !connection.outgoing.holds_back(); ++i) {
    const Result<Message> message = receive_message(connection.socket.get(), TakeFds::kDrop);
    if (message.code() == Code::kBusy) break;
    if (message.code() == Code::kInvalid) return sessions_.end(index, message.status());
    if (!message.is_ok()) return sessions_.hang_up(index);
    if (message.value().header().type == MessageType::kGoodbye) return goodbye(index);
    const Status handled = handle(connection, message.value());
    if (!handled.is_ok()) return sessions_.end(index, handled);
  }
  if (sessions_.table().find(index, generation) != nullptr) sessions_.flush(index);
}

Status Control::handle(Connection& connection, const Message& message) {
  switch (message.header().type) {
    case MessageType::kRegisterSpace:
      return register_space(connection, message);
    case MessageType::kSlabAck:
      return slab_ack(connection, message);
    case MessageType::kDirectoryAck:
      return directory_ack(connection, message);
    case MessageType::kHello:
      return {Code::kInvalid, "a second hello on one connection"};
    default:
      return {Code::kInvalid, "message type " + std::to_string(static_cast<unsigned>(message.header().type)) +
                                  " is not one that a client of protocol " + std::to_string(kProtocolMajor) +
                                  "." + std::to_string(kProtocolMinor) + " sends"};
  }
}

Status Control::register_space(Connection& connection, const Message& message) {
  RegisterSpace request{};
  if (!message.read(request)) return wrong_size("register space", message.bytes.size(), sizeof request);
  const std::span<const std::byte> spec = message.tail<RegisterSpace>();
  if (spec.size() != request.spec_bytes)
    return wrong_size("register space: spec", spec.size(), request.spec_bytes);
  if (spec.size() > kSpecBytesMax) return {Code::kInvalid, "register space: a spec has at most 16 KiB"};
  const Result<SpaceGrant> grant = sessions_.store().space_register(connection.session, spec);
  const std::uint32_t sequence = request.header.sequence;
  bool is_queued = false;
  if (grant.is_ok()) {
    SpaceReady ready{};
    ready.header = message_header(MessageType::kSpaceReady, sizeof ready, sequence);
    ready.space = grant.value().space;
    ready.block_bytes = grant.value().block_bytes;
    ready.slot_bytes = grant.value().slot_bytes;
    ready.digest = grant.value().digest;
    is_queued = connection.outgoing.add(ready);
  } else {
    is_queued = connection.outgoing.add_refused(sequence, grant.status());
  }
  return is_queued ? Status::ok() : Status(Code::kBusy, "the client does not read its socket");
}

Status Control::slab_ack(const Connection& connection, const Message& message) {
  SlabAck ack{};
  KV_RETURN_IF_ERROR(read_exactly("slab acknowledgement", message, ack));
  if (ack.state != SlabState::kReleased && ack.state != SlabState::kUnmapped &&
      ack.state != SlabState::kBusy) {
    return {Code::kInvalid, "slab acknowledgement: state " +
                                std::to_string(static_cast<unsigned>(ack.state)) + " is not known"};
  }
  sessions_.store().slab_acknowledged(connection.session, ack);
  return Status::ok();
}

Status Control::directory_ack(const Connection& connection, const Message& message) {
  DirectoryAck ack{};
  KV_RETURN_IF_ERROR(read_exactly("directory acknowledgement", message, ack));
  sessions_.store().directory_acknowledged(connection.session, ack.epoch);
  return Status::ok();
}

// The client has unmapped everything: its session ends as if the process had exited. One that lies loses what
// it still uses to others of its own namespace, which the namespace's members may do to each other anyway.
void Control::goodbye(std::uint32_t index) {
  const SessionIndex session = sessions_.table().at(index).session;
  sessions_.hang_up(index);
  sessions_.liveness().forget(session);
  sessions_.store().session_exited(session);
}

}  // namespace kvtier
