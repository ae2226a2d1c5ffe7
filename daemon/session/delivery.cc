#include "daemon/session/delivery.h"

#include "libkvclient/base/fault_point.h"
#include "libkvclient/wire/message_socket.h"

namespace kvtier {
namespace {

SlabEvent slab_event(MessageType type, const OutEvent& event) {
  SlabEvent message{};
  message.header = message_header(type, sizeof message, 0);
  message.slab = index_of(event.slab);
  message.epoch = event.epoch;
  return message;
}

}  // namespace

// A session that ends here makes the store queue nothing, but may; the outbox is taken in swaps until it
// stays empty.
std::size_t Delivery::run() {
  std::size_t delivered = 0;
  std::vector<OutEvent>& outbox = sessions_.store().outbox();
  while (!outbox.empty()) {
    events_.clear();
    events_.swap(outbox);
    for (const OutEvent& event : events_) deliver(event);
    delivered += events_.size();
    finish_round();
  }
  return delivered;
}

void Delivery::deliver(const OutEvent& event) {
  const std::uint32_t index = sessions_.table().index_of_session(event.session);
  if (index == ConnectionTable::kNone) {
    sessions_.stats().completions_dropped += event.kind == OutEvent::Kind::kCompletion ? 1 : 0;
    return;
  }
  if (event.kind == OutEvent::Kind::kCompletion) return complete(index, event.completion);
  if (event.kind == OutEvent::Kind::kEndSession) return sessions_.end(index, {Code::kInvalid, event.reason});
  send(index, event);
}

void Delivery::complete(std::uint32_t index, const Completion& completion) {
  Connection& connection = sessions_.table().at(index);
  const bool is_faulted = KV_FAULT("session.complete") == Fault::kFail;
  if (is_faulted || !connection.rings->push(completion)) {
    return sessions_.end(index,
                         {Code::kInvalid, "the completion ring is full or its cursor is wrong: more than " +
                                              std::to_string(kCompletionEntries) + " requests open"});
  }
  ++sessions_.stats().completions;
  touch(index);
}

void Delivery::send(std::uint32_t index, const OutEvent& event) {
  SendQueue& queue = sessions_.table().at(index).outgoing;
  bool is_queued = false;
  switch (event.kind) {
    case OutEvent::Kind::kSlabAdd:
      is_queued = queue.add_slab(event.slab);
      break;
    case OutEvent::Kind::kSlabRevoke:
      is_queued = queue.add(slab_event(MessageType::kSlabRevoke, event));
      break;
    case OutEvent::Kind::kSlabRemove:
      is_queued = queue.add(slab_event(MessageType::kSlabRemove, event));
      break;
    case OutEvent::Kind::kDirectoryMoved:
      is_queued = queue.add_directory();
      break;
    case OutEvent::Kind::kCompletion:
    case OutEvent::Kind::kEndSession:
      return;  // not messages
  }
  if (!is_queued) return sessions_.end(index, {Code::kBusy, "the client does not read its socket"});
  touch(index);
}

void Delivery::touch(std::uint32_t index) {
  Connection& connection = sessions_.table().at(index);
  if (connection.is_touched) return;
  connection.is_touched = true;
  touched_.push_back({index, connection.generation});
}

void Delivery::finish_round() {
  for (const Touched& each : touched_) {
    Connection* connection = sessions_.table().find(each.index, each.generation);
    if (connection == nullptr) continue;
    connection->is_touched = false;
    connection->rings->wake_waiters();
    if (!connection->outgoing.is_empty()) sessions_.flush(each.index);
  }
  touched_.clear();
}

}  // namespace kvtier
