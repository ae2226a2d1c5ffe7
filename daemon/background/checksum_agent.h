#pragma once
// The thread that sums payloads, so that the conductor never does: a 2 MiB block takes it a fifth of a
// millisecond. Once no adopted block waits to be visible again, others go first (nice). Not SCHED_IDLE: on a machine that
// is busy such a thread takes seconds to die, and its killed process, whose locks and memory the next one needs, with it.

#include <cstdint>

#include "daemon/agent/agent.h"
#include "daemon/agent/mailbox.h"
#include "daemon/flow/store.h"

namespace kvtier {

class ChecksumAgent final : public Agent {
 public:
  /// Both waiters outlive the agent: its own, and the conductor's, which is woken with results.
  ChecksumAgent(Waiter& own, Waiter& conductor);

  /// The conductor's thread: takes finished sums to the store and hands out what is due. Returns the blocks
  /// moved.
  std::size_t exchange(Store& store);

  // The agent's thread.
  [[nodiscard]] std::string_view name() const override { return "kv-checksum"; }
  std::size_t do_work(TimeNs now_ns) override;

 private:
  struct Sum {
    ChecksumJob job;
    std::uint64_t value = 0;
  };
  static constexpr std::size_t kInFlight = 8;

  static constexpr int kNice = 10;  ///< a tenth of what a thread of others gets

  void step_back();

  // the conductor
  std::size_t in_flight_ = 0;
  // the agent
  bool has_stepped_back_ = false;
  // both
  std::atomic<bool> is_urgent_{true};  ///< until the conductor knows
  Mailbox<ChecksumJob> jobs_;
  Mailbox<Sum> sums_;
};

}  // namespace kvtier
