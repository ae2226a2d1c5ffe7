#pragma once
// The only place that starts threads: runs an agent's loop until it is stopped.

#include <pthread.h>

#include <atomic>
#include <functional>

#include "daemon/agent/agent_loop.h"
#include "libkvclient/base/check.h"

namespace kvtier {

/// Exit status of a process that an agent's failure ended (EX_SOFTWARE).
inline constexpr int kAgentFailedExit = 70;

/// Runs on the agent's thread. The default prints and ends the process; an own one records first, and must
/// see to it that the process ends with a status other than 0.
using AgentFailure = std::function<void(std::string_view agent, const Status& status)>;
void end_process_on_failure(std::string_view agent, const Status& status);

/// Owns the thread. Agent, waiter and clock are borrowed and outlive it. start, stop and destruction: one
/// thread.
class AgentRunner {
 public:
  AgentRunner(Agent& agent, Waiter& waiter, const Clock& clock, const AgentLoopOptions& options,
              AgentFailure on_failure = end_process_on_failure);
  AgentRunner(const AgentRunner&) = delete;
  AgentRunner& operator=(const AgentRunner&) = delete;
  /// Stops.
  ~AgentRunner();

  /// The thread takes no signals; they are the main thread's. kSystem when there is no thread to have.
  Status start();
  /// Ends the loop after its round and joins. Work that is left is the agent's to finish or drop.
  void stop();

  /// Any thread.
  [[nodiscard]] const AgentLoad& load() const { return loop_.load(); }
  /// Any thread: the heartbeat is older than twice the longest sleep, so the agent hangs in a round.
  [[nodiscard]] bool is_frozen(TimeNs now_ns) const;
  void set_spin_ns(TimeNs spin_ns) { loop_.set_spin_ns(spin_ns); }

 private:
  static void* thread_main(void* self);
  void run();

  Agent& agent_;
  Waiter& waiter_;
  const TimeNs frozen_after_ns_;
  const AgentFailure on_failure_;
  AgentLoop loop_;
  std::atomic<bool> is_stopping_{false};
  pthread_t thread_{};
  bool is_started_ = false;
};

}  // namespace kvtier
