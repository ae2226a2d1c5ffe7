#pragma once
// Control messages of a session: spaces, acknowledgements, goodbye. A message that does not parse ends the
// session; a request that the store refuses is answered.

#include "daemon/session/sessions.h"
#include "libkvclient/wire/message_socket.h"

namespace kvtier {

class Control {
 public:
  static constexpr int kMessagesPerTurn = 16;

  explicit Control(Sessions& sessions) : sessions_(sessions) {}

  /// Reads and serves a bounded number of messages of a session's socket.
  void serve(std::uint32_t index);

 private:
  /// A failure ends the session with its text.
  Status handle(Connection& connection, const Message& message);
  Status register_space(Connection& connection, const Message& message);
  Status slab_ack(const Connection& connection, const Message& message);
  Status directory_ack(const Connection& connection, const Message& message);
  void goodbye(std::uint32_t index);

  Sessions& sessions_;
};

}  // namespace kvtier
