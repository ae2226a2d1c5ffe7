#pragma once
// Where the conductor serves administrators: commands come in through one bounded mailbox, answers leave
// through another, so neither thread ever waits for the other.

#include "daemon/admin/admin_command.h"
#include "daemon/agent/mailbox.h"

namespace kvtier {

class Store;

class AdminPort {
 public:
  static constexpr std::size_t kInFlightMax = 32;

  /// Both waiters outlive the port.
  AdminPort(Waiter& server, Waiter& conductor)
      : commands_(kInFlightMax, conductor), answers_(kInFlightMax, server) {}

  /// The conductor's thread, once a round: at most one command, which is one page or one step. Returns the
  /// commands served.
  std::size_t serve(Store& store);

  /// The server's thread. False: as many as may be in flight are; the conductor is behind or hangs.
  [[nodiscard]] bool send(AdminCommand command);
  [[nodiscard]] bool receive(AdminAnswer& answer);

 private:
  // the server: so many answers find a place, whether or not somebody still waits for them
  std::size_t in_flight_ = 0;
  // both
  Mailbox<AdminCommand> commands_;
  Mailbox<AdminAnswer> answers_;
};

}  // namespace kvtier
