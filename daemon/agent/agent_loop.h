#pragma once
// What an agent's thread does between two looks at the stop flag: work, spin briefly, then sleep. No thread
// in here, so tests run it round by round under a time of their own.

#include <atomic>

#include "daemon/agent/agent.h"

namespace kvtier {

struct AgentLoopOptions {
  /// Polls this long after the last work before it sleeps, while that finds work often enough. A thread that polls in vain may
  /// keep the one that would give it work off their processor.
  TimeNs spin_ns = 0;
  TimeNs beat_ns = 500 * kNsPerMs;  ///< longest sleep: an older heartbeat than twice this is a hang
  std::atomic<std::uint64_t>* heartbeat =
      nullptr;  ///< a second place for the heartbeat, such as the counters file
};

/// Written by the agent's thread, read by all.
struct AgentLoad {
  std::atomic<std::uint64_t> rounds{0};
  std::atomic<std::uint64_t> wakeups{0};       ///< sleeps that ended
  std::atomic<std::uint64_t> work_ns{0};       ///< time in rounds that found work
  std::atomic<std::uint64_t> heartbeat_ns{0};  ///< begin of the last round
};

class AgentLoop {
 public:
  AgentLoop(Agent& agent, Waiter& waiter, const Clock& clock, const AgentLoopOptions& options);

  /// One round, and a sleep when there was nothing to do. A failure of the agent, or an exception that left
  /// it.
  Status round();

  [[nodiscard]] const AgentLoad& load() const { return load_; }
  /// Any thread.
  void set_spin_ns(TimeNs spin_ns) { spin_ns_.store(spin_ns, std::memory_order_relaxed); }

 private:
  enum class Rest : std::uint8_t { kNone, kPolled, kSlept };
  static constexpr int kSpinCreditMax = 4;

  void beat(TimeNs now_ns);
  void note_work(TimeNs began_ns);
  void rest(TimeNs now_ns);

  Agent& agent_;
  Waiter& waiter_;
  const Clock& clock_;
  const AgentLoopOptions options_;
  std::atomic<TimeNs> spin_ns_;
  AgentLoad load_;
  TimeNs last_work_ns_;
  Rest rest_ = Rest::kNone;           ///< since the last work
  int spin_credit_ = kSpinCreditMax;  ///< 0: polling has not found work lately
};

}  // namespace kvtier
