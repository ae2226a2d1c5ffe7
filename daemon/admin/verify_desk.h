#pragma once
// Who has the NVMe tier scrubbed: one asker at a time, and the scrub ends when its asker goes. Speaks to the tier's agent
// through its mailbox; what it finds is in the tier's snapshot. Thread: the administration server's.

#include "daemon/tier/disk_channel.h"
#include "libkvclient/base/status.h"

namespace kvtier {

class VerifyDesk {
 public:
  /// Borrowed, outlives this; null: there is no tier.
  explicit VerifyDesk(DiskChannel* disk) : disk_(disk) {}

  /// kUnsupported: no tier. kBusy: another asker has it, or the agent's mailbox is full.
  Status begin(std::uint64_t tag);
  /// The asker has its answer, or has gone. Another tag than the present one's: nothing.
  void end(std::uint64_t tag);
  /// Tells the agent what found no room in its mailbox. Returns 1 when it did.
  std::size_t step();
  /// There is something to tell: step() again soon.
  [[nodiscard]] bool is_waiting() const { return stop_tag_ != 0; }

 private:
  DiskChannel* const disk_;
  std::uint64_t tag_ = 0;       ///< 0: nobody
  std::uint64_t stop_tag_ = 0;  ///< not told yet
};

}  // namespace kvtier
