#pragma once
// Connecting and saying hello, with a deadline and an interruption at every step. Blocks: the service
// thread's only.

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
};

struct Handshake {
  UniqueFd socket;
  Welcome welcome{};
  std::vector<UniqueFd> fds;  ///< channel, directory, doorbell
};

/// kUnavailable: nobody there, or silent. kVersion, kDenied, ...: refused, with the daemon's reason.
/// `wake_fd` readable: given up. `proof.session_id` 0: a new session.
Result<Handshake> shake_hands(const ClientOptions& options, const ResumeProof& proof, TimeNs deadline_ns,
                              int wake_fd);

/// kInvalid when a path or name does not fit the wire.
Status check_options(const ClientOptions& options);

}  // namespace kvtier::client
