#include "libkvclient/src/outgoing.h"

#include "libkvclient/wire/message_socket.h"

namespace kvtier::client {

void Outgoing::send(int socket, std::span<const std::byte> message) {
  flush(socket);
  if (waiting_.empty() && send_message(socket, message, {}).code() != Code::kBusy) return;
  waiting_.emplace_back(message.begin(), message.end());
}

void Outgoing::flush(int socket) {
  while (!waiting_.empty()) {
    if (send_message(socket, waiting_.front(), {}).code() == Code::kBusy) return;
    waiting_.pop_front();
  }
}

}  // namespace kvtier::client
