#pragma once
// All connections, by place and by session. Memory taken at start; a place is reused under a new generation.

#include <cstdint>
#include <vector>

#include "daemon/session/connection.h"

namespace kvtier {

class ConnectionTable {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  /// Strangers have places of their own, so that they cannot keep sessions out.
  ConnectionTable(std::uint32_t sessions_max, std::uint32_t strangers_max);

  /// kNone: no place is free.
  std::uint32_t open(UniqueFd socket, Peer peer, TimeNs hello_deadline_ns);
  void bind_session(std::uint32_t index, SessionIndex session);
  /// Closes its descriptors and forgets it.
  void close(std::uint32_t index);

  /// Null when the place is empty, or has another generation than a token says.
  Connection* find(std::uint32_t index, std::uint32_t generation);
  Connection& at(std::uint32_t index) { return places_[index]; }
  [[nodiscard]] std::uint32_t index_of_session(SessionIndex session) const;

  [[nodiscard]] const std::vector<std::uint32_t>& sessions() const { return sessions_; }
  [[nodiscard]] const std::vector<std::uint32_t>& strangers() const { return strangers_; }  ///< oldest first
  [[nodiscard]] bool is_full_of_strangers() const { return strangers_.size() >= strangers_max_; }
  [[nodiscard]] bool is_full_of_sessions() const { return sessions_.size() >= sessions_max_; }

 private:
  // constant after construction
  const std::uint32_t sessions_max_;
  const std::uint32_t strangers_max_;
  // owned by the conductor
  std::vector<Connection> places_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> sessions_;
  std::vector<std::uint32_t> strangers_;
  std::vector<std::uint32_t> by_session_;  // indexed by SessionIndex; grows to the highest one seen
};

}  // namespace kvtier
