#include "daemon/agent/agent_runner.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace kvtier {
namespace {

constexpr std::size_t kThreadNameMax = 15;

}  // namespace

void end_process_on_failure(std::string_view agent, const Status& status) {
  const std::string text = "kvtier: agent " + std::string(agent) + " failed: " + status.to_string() + "\n";
  std::fputs(text.c_str(), stderr);
  // No destructors: other agents still run in what they would take down.
  std::_Exit(kAgentFailedExit);
}

AgentRunner::AgentRunner(Agent& agent, Waiter& waiter, const Clock& clock, const AgentLoopOptions& options,
                         AgentFailure on_failure)
    : agent_(agent),
      waiter_(waiter),
      frozen_after_ns_(2 * options.beat_ns),
      on_failure_(std::move(on_failure)),
      loop_(agent, waiter, clock, options) {}

AgentRunner::~AgentRunner() {
  stop();
}

Status AgentRunner::start() {
  KV_CHECK(!is_started_, "an agent is started once");
  // The thread inherits the mask: it is born without signals.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&thread_, nullptr, thread_main, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  const std::string name(agent_.name().substr(0, kThreadNameMax));
  if (error != 0) return Status::from_errno("pthread_create for agent " + name, error);
  is_started_ = true;
  pthread_setname_np(thread_, name.c_str());
  return Status::ok();
}

void AgentRunner::stop() {
  if (!is_started_) return;
  // release with the loop's acquire: what the caller did before stop() is seen by the last round.
  is_stopping_.store(true, std::memory_order_release);
  waiter_.wake();
  pthread_join(thread_, nullptr);
  is_started_ = false;
}

bool AgentRunner::is_frozen(TimeNs now_ns) const {
  const TimeNs beat_ns = load().heartbeat_ns.load(std::memory_order_relaxed);
  return now_ns > beat_ns && now_ns - beat_ns > frozen_after_ns_;
}

void* AgentRunner::thread_main(void* self) {
  static_cast<AgentRunner*>(self)->run();
  return nullptr;
}

void AgentRunner::run() {
  while (!is_stopping_.load(std::memory_order_acquire)) {
    const Status status = loop_.round();
    if (!status.is_ok()) return on_failure_(agent_.name(), status);
  }
}

}  // namespace kvtier
