#pragma once
// What a client says on the socket beside its rings: registrations and acknowledgements. None of them is lost while the
// connection lives: what the daemon has no room for, because it is stopped or busy, waits for the service thread.

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

namespace kvtier::client {

/// Guarded by Core's mutex.
class Outgoing {
 public:
  /// Behind all that waits already. A dead socket is the receiver's to notice: then nothing waits.
  void send(int socket, std::span<const std::byte> message);
  /// As much as there is room for.
  void flush(int socket);
  /// The connection is over: whatever it was about is said anew to the next one.
  void clear() { waiting_.clear(); }
  [[nodiscard]] bool is_empty() const { return waiting_.empty(); }

 private:
  std::deque<std::vector<std::byte>> waiting_;
};

}  // namespace kvtier::client
