#include "daemon/agent/agent_loop.h"

#include <algorithm>
#include <exception>
#include <string>

namespace kvtier {
namespace {

// What a thread that slept wakes later than one that polls, on a machine whose processors halt when idle.
constexpr TimeNs kWakeupNs = 50 * kNsPerUs;

// relaxed: statistics with one writer.
void add(std::atomic<std::uint64_t>& cell, std::uint64_t delta) {
  cell.store(cell.load(std::memory_order_relaxed) + delta, std::memory_order_relaxed);
}

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

AgentLoop::AgentLoop(Agent& agent, Waiter& waiter, const Clock& clock, const AgentLoopOptions& options)
    : agent_(agent),
      waiter_(waiter),
      clock_(clock),
      options_(options),
      spin_ns_(options.spin_ns),
      last_work_ns_(clock.now_ns()) {
  beat(last_work_ns_);
}

Status AgentLoop::round() {
  const TimeNs now_ns = clock_.now_ns();
  beat(now_ns);
  add(load_.rounds, 1);
  try {
    const std::size_t work = agent_.do_work(now_ns);
    Status status = agent_.status();
    if (!status.is_ok()) return status;
    if (work == 0) {
      rest(now_ns);
      return Status::ok();
    }
  } catch (const std::exception& error) {
    return {Code::kSystem, std::string("exception left do_work: ") + error.what()};
  }
  note_work(now_ns);
  add(load_.work_ns, last_work_ns_ - now_ns);
  return Status::ok();
}

void AgentLoop::beat(TimeNs now_ns) {
  load_.heartbeat_ns.store(now_ns, std::memory_order_relaxed);
  if (options_.heartbeat != nullptr) options_.heartbeat->store(now_ns, std::memory_order_relaxed);
}

// Work that polling finds saves its sender a wakeup, which costs more than the polling: one find outweighs two vain ones.
void AgentLoop::note_work(TimeNs began_ns) {
  if (rest_ != Rest::kNone) {
    // relaxed: a setting; it orders nothing.
    const TimeNs spin_ns = spin_ns_.load(std::memory_order_relaxed);
    const TimeNs came_ns = began_ns - (rest_ == Rest::kSlept ? kWakeupNs : 0);
    const bool would_find = came_ns < last_work_ns_ + spin_ns;
    spin_credit_ = would_find ? std::min(spin_credit_ + 2, kSpinCreditMax) : std::max(spin_credit_ - 1, 0);
  }
  rest_ = Rest::kNone;
  last_work_ns_ = clock_.now_ns();
}

void AgentLoop::rest(TimeNs now_ns) {
  if (spin_credit_ > 0 && now_ns - last_work_ns_ < spin_ns_.load(std::memory_order_relaxed)) {
    rest_ = Rest::kPolled;
    return pause_briefly();
  }
  const TimeNs until_ns = std::min(agent_.next_deadline_ns(), now_ns + options_.beat_ns);
  if (until_ns <= now_ns) return;
  rest_ = Rest::kSlept;
  waiter_.wait(now_ns, until_ns);
  add(load_.wakeups, 1);
}

}  // namespace kvtier
