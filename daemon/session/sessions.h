#pragma once
// What every part of the session layer works on, and the few things they all do to a connection. No
// decisions.

#include <cstdint>

#include "daemon/flow/store.h"
#include "daemon/observe/log.h"
#include "daemon/session/connection_table.h"
#include "daemon/session/liveness.h"
#include "daemon/session/poller.h"
#include "daemon/session/session_stats.h"

namespace kvtier {

class Sessions {
 public:
  Sessions(Store& store, Poller poller, std::uint32_t sessions_max, std::uint32_t strangers_max, Log& log);
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  /// Ends a connection from our side: tells the client why (as far as its socket takes it), then hangs up.
  void end(std::uint32_t index, const Status& why);
  /// The client closed, or cannot be reached. Its memory stays until its process exits.
  void hang_up(std::uint32_t index);
  /// Sends what waits and listens for room when some is left. May hang up.
  void flush(std::uint32_t index);

  Store& store() { return store_; }
  [[nodiscard]] const Store& store() const { return store_; }
  Poller& poller() { return poller_; }
  ConnectionTable& table() { return table_; }
  Liveness& liveness() { return liveness_; }
  SessionStats& stats() { return stats_; }
  Log& log() { return log_; }

 private:
  void close(std::uint32_t index);

  Store& store_;
  Poller poller_;
  ConnectionTable table_;
  Liveness liveness_{poller_};
  SessionStats stats_;
  Log& log_;
};

}  // namespace kvtier
