#pragma once
// Agents and waiters whose behaviour a test chooses.

#include <functional>
#include <vector>

#include "daemon/agent/agent.h"

namespace kvtier {

class ScriptedAgent final : public Agent {
 public:
  [[nodiscard]] std::string_view name() const override { return "scripted"; }
  std::size_t do_work(TimeNs now_ns) override { return on_work ? on_work(now_ns) : 0; }
  [[nodiscard]] TimeNs next_deadline_ns() const override { return deadline_ns; }
  [[nodiscard]] Status status() const override { return failure; }

  std::function<std::size_t(TimeNs)> on_work;
  TimeNs deadline_ns = kNever;
  Status failure;
};

/// Notes each wait instead of blocking, and moves the clock to its end.
class RecordingWaiter final : public Waiter {
 public:
  explicit RecordingWaiter(ManualClock& clock) : clock_(clock) {}
  void wait(TimeNs now_ns, TimeNs until_ns) override {
    waits_ns.push_back(until_ns - now_ns);
    clock_.advance(until_ns - now_ns);
  }
  void wake() override { ++wakes; }

  std::vector<TimeNs> waits_ns;
  int wakes = 0;

 private:
  ManualClock& clock_;
};

}  // namespace kvtier
