#pragma once
// The conductor's end of the NVMe tier. Two of them: the agent's mailboxes (DiskAgent), and a script in tests.

#include "daemon/tier/disk_command.h"

namespace kvtier {

/// Thread: the conductor.
class DiskPort {
 public:
  DiskPort() = default;
  DiskPort(const DiskPort&) = delete;
  DiskPort& operator=(const DiskPort&) = delete;
  virtual ~DiskPort() = default;

  /// False: full; `command` is as it was, try again after the next receive().
  [[nodiscard]] virtual bool send(const DiskCommand& command) = 0;
  /// The next news; false: none.
  [[nodiscard]] virtual bool receive(DiskNews& news) = 0;
  /// Whether a put may be sent now: the tier is open, some path takes writes, and the day's budget is not used up.
  [[nodiscard]] virtual bool takes_puts() const = 0;
  /// Little of the day's budget is left: what nobody used since it was computed is not worth a put.
  [[nodiscard]] virtual bool wants_evidence() const = 0;
};

}  // namespace kvtier
