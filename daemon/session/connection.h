#pragma once
// One connected socket: first a stranger with a deadline, then a session with rings.

#include <cstdint>
#include <optional>

#include "daemon/model/ids.h"
#include "daemon/session/client_rings.h"
#include "daemon/session/peer.h"
#include "daemon/session/send_queue.h"
#include "libkvclient/base/clock.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier {

struct Connection {
  UniqueFd socket;
  Peer peer;
  std::uint32_t generation = 0;  ///< of its place in the table; in the poll tokens
  TimeNs hello_deadline_ns = 0;  ///< of a stranger

  SessionIndex session = SessionIndex::kNone;  ///< kNone: a stranger
  std::optional<ClientRings> rings;
  UniqueFd doorbell;
  SendQueue outgoing;
  std::uint32_t poll_flags = 0;
  bool is_touched = false;  ///< in delivery's list of this round
};

}  // namespace kvtier
