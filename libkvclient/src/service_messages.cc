// What the daemon says on the socket. Anything that is not the protocol ends the session; the client
// reconnects.

#include <algorithm>

#include "libkvclient/base/fault_point.h"
#include "libkvclient/src/service.h"

namespace kvtier::client {
namespace {

constexpr int kMessagesPerTurn = 1024;

template <class T>
Status read_exactly(const Message& message, T& out, const char* what) {
  if (message.bytes.size() == sizeof out && message.read(out)) return Status::ok();
  return {Code::kUnavailable, std::string("the daemon's ") + what + " has a wrong length"};
}

}  // namespace

void Service::take_messages() {
  for (int i = 0; i < kMessagesPerTurn; ++i) {
    Result<Message> message = receive_message(session().socket.get());
    if (message.code() == Code::kBusy) return;
    const Status status = message.is_ok() ? handle(message.value()) : message.status();
    if (!status.is_ok()) return hang_up(status);
  }
}

Status Service::handle(const Message& message) {
  switch (message.header().type) {
    case MessageType::kSlabAdd:
      return slab_add(message);
    case MessageType::kSlabRevoke:
      return slab_revoke(message);
    case MessageType::kSlabRemove:
      return slab_remove(message);
    case MessageType::kDirectoryMoved:
      return directory_moved(message);
    case MessageType::kSpaceReady:
      return space_ready(message);
    case MessageType::kRefused:
      return refused(message);
    default:
      return {Code::kUnavailable, "the daemon sent a message of unknown type " +
                                      std::to_string(static_cast<unsigned>(message.header().type))};
  }
}

Status Service::slab_add(const Message& message) {
  SlabAdd add{};
  KV_RETURN_IF_ERROR(read_exactly(message, add, "slab announcement"));
  std::erase_if(removals_, [&](const Removal& each) { return each.slab == add.slab; });
  std::unique_ptr<const View> old;
  {
    // In one step for Core::lend: a writer that was lent a slot, and committed it, finds it in the view.
    const std::lock_guard lock(core_.mutex_);
    KV_RETURN_IF_ERROR(session().mappings.add(add, message.fds));
    (void)KV_FAULT("client.slab_add.mapped");
    old = show_view(true);
    core_.changed_.notify_all();  // a reservation, or a wait, may be for it
  }
  // The view that went has nothing that the new one has not: only its own memory waits for its readers.
  drop_view(std::move(old));
  return Status::ok();
}

Status Service::slab_revoke(const Message& message) {
  SlabEvent event{};
  KV_RETURN_IF_ERROR(read_exactly(message, event, "revocation"));
  const Result<SlabState> state = session().mappings.revoke(event.slab, event.epoch);
  if (!state.is_ok()) return state.status();
  (void)KV_FAULT("client.slab_revoke.protected");
  acknowledge(event.slab, event.epoch, state.value());
  return Status::ok();
}

Status Service::slab_remove(const Message& message) {
  SlabEvent event{};
  KV_RETURN_IF_ERROR(read_exactly(message, event, "removal"));
  removals_.push_back({event.slab, event.epoch});
  publish_view(true);  // from here on nobody can pin in it
  finish_removals();
  return Status::ok();
}

void Service::finish_removals() {
  const auto is_done = [this](const Removal& removal) {
    if (!session().mappings.try_remove(removal.slab, session().pins_base())) return false;
    acknowledge(removal.slab, removal.epoch, SlabState::kUnmapped);
    return true;
  };
  std::erase_if(removals_, is_done);
}

void Service::acknowledge_released() {
  for (const SlabAck& ack : session().mappings.take_released()) say(ack);
}

void Service::acknowledge(std::uint32_t slab, std::uint32_t epoch, SlabState state) {
  SlabAck ack{};
  ack.header = message_header(MessageType::kSlabAck, sizeof ack, 0);
  ack.slab = slab;
  ack.epoch = epoch;
  ack.state = state;
  say(ack);
}

Status Service::directory_moved(const Message& message) {
  DirectoryMoved moved{};
  KV_RETURN_IF_ERROR(read_exactly(message, moved, "directory move"));
  if (message.fds.size() != 1) return {Code::kUnavailable, "a directory move without its descriptor"};
  const ShmMapping old = std::move(session().directory);
  Status status = session().attach_directory(message.fds[0].get(), moved.directory_bytes);
  publish_view(status.is_ok());  // now nobody is inside the old one; `old` unmaps it
  {
    const std::lock_guard lock(core_.mutex_);
    core_.changed_.notify_all();  // a wait may be for it
  }
  if (!status.is_ok()) return status;
  DirectoryAck ack = moved;
  ack.header = message_header(MessageType::kDirectoryAck, sizeof ack, 0);
  say(ack);
  return Status::ok();
}

Status Service::space_ready(const Message& message) {
  SpaceReady ready{};
  KV_RETURN_IF_ERROR(read_exactly(message, ready, "registration"));
  const std::lock_guard lock(core_.mutex_);
  const std::shared_ptr<Space> space = space_by_sequence(ready.header.sequence);
  if (!space) return Status::ok();  // closed meanwhile
  const bool fits = ready.digest == space->digest && ready.block_bytes == space->block_bytes &&
                    ready.slot_bytes >= ready.block_bytes && ready.slot_bytes % kSlotAlignment == 0 &&
                    ready.slot_bytes <= Binding::kSlotBytesMax && ready.space != SpaceId::kNone;
  if (!fits) return {Code::kUnavailable, "the daemon understood another spec than it was sent"};
  const Binding binding{ready.space, ready.slot_bytes, Binding::low(session().epoch)};
  // release: who reads the binding may use the session that it names.
  space->binding.store(binding.pack(), std::memory_order_release);
  space->sequence = 0;
  core_.changed_.notify_all();
  return Status::ok();
}

Status Service::refused(const Message& message) {
  Refused header{};
  if (!message.read(header)) return {Code::kUnavailable, "the daemon's refusal is too short"};
  const auto text = message.tail<Refused>();
  const std::string reason(reinterpret_cast<const char*>(text.data()),
                           std::min<std::size_t>(text.size(), header.text_bytes));
  const std::lock_guard lock(core_.mutex_);
  const std::shared_ptr<Space> space =
      header.header.sequence == 0 ? nullptr : space_by_sequence(header.header.sequence);
  if (!space) return {Code::kUnavailable, "the daemon ended the session: " + reason};
  space->refusal = Status(header.code == Code::kOk ? Code::kUnavailable : header.code, reason);
  space->sequence = 0;
  core_.changed_.notify_all();
  return Status::ok();
}

std::shared_ptr<Space> Service::space_by_sequence(std::uint32_t sequence) const {
  for (const auto& space : core_.spaces_) {
    if (space->sequence == sequence) return space;
  }
  return nullptr;
}

}  // namespace kvtier::client
