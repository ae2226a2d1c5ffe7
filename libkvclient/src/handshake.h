#pragma once
// Connecting and saying hello, with a deadline and an interruption at every step. Blocks: the service
// thread's only.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "libkvclient/base/clock.h"
#include "libkvclient/wire/message_socket.h"

namespace kvtier::client {

struct ResumeProof {
  std::uint64_t session_id = 0;
  std::uint64_t secret[2] = {0, 0};
};

struct ClientOptions {
  std::string socket_path;
  std::string namespace_name;
  std::string client_name;
  TimeNs deadline_ns = kNsPerSecond;
  bool is_required = false;
  bool is_read_only = false;
  bool verifies = false;  ///< every acquire does
};

struct Handshake {
  UniqueFd socket;
  Welcome welcome{};
  std::vector<UniqueFd> fds;  ///< channel, directory, doorbell
};

/// What ends a handshake early. The eventfd wakes the thread for other reasons too: those are taken from it,
/// and the handshake goes on.
struct Interruption {
  int wake_fd = -1;
  const std::atomic<bool>& is_closed;  ///< set before the wake-up that is meant for it
};

/// kUnavailable: nobody there, silent, or interrupted. kVersion, kDenied, ...: refused, with the daemon's
/// reason. `proof.session_id` 0: a new session.
Result<Handshake> shake_hands(const ClientOptions& options, const ResumeProof& proof, TimeNs deadline_ns,
                              const Interruption& interruption);

/// Of a name: what may reach logs and terminals.
constexpr bool is_printable(char each) {
  return each >= ' ' && each <= '~';
}

/// kInvalid when a path or name does not fit the wire.
Status check_options(const ClientOptions& options);

}  // namespace kvtier::client
