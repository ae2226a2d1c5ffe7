#pragma once
// A thread is an agent: it does bounded rounds of work and says when it next has some. Tests and the
// simulation call do_work() of all agents in turn on one thread; AgentRunner gives each a thread.

#include <cstddef>
#include <string_view>

#include "libkvclient/base/clock.h"
#include "libkvclient/base/status.h"

namespace kvtier {

class Agent {
 public:
  Agent() = default;
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  virtual ~Agent() = default;

  /// For logs and the thread's name: at most 15 characters.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// One bounded round. Returns the work done; 0: there was none, the thread may sleep.
  virtual std::size_t do_work(TimeNs now_ns) = 0;
  /// When the next round is due although nobody calls. Asked after a round without work.
  [[nodiscard]] virtual TimeNs next_deadline_ns() const { return kNever; }
  /// A failure after which the agent cannot go on. It ends the process.
  [[nodiscard]] virtual Status status() const { return Status::ok(); }
};

/// Where an agent sleeps: the conductor in epoll, the others on an eventfd.
class Waiter {
 public:
  Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  virtual ~Waiter() = default;

  /// Blocks until wake() or `until_ns`; may return early. The agent's thread only.
  virtual void wait(TimeNs now_ns, TimeNs until_ns) = 0;
  /// Ends a wait, or the next one before it begins. Any thread.
  virtual void wake() = 0;
};

}  // namespace kvtier
