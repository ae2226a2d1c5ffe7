#include "tools/kvbench/support/child_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>

namespace kvtier::bench {
namespace {

constexpr int kPatienceMs = 60'000;
constexpr int kStepMs = 100;

[[noreturn]] void run_body(const std::function<void()>& body, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(3);
  int status = 0;
  try {
    body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kvbench: in a child process: %s\n", error.what());
    status = 2;
  }
  std::fflush(stderr);
  ::_exit(status);
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

// A child that failed will not post what is waited for. Nothing is reaped; a child process has no children.
void need_children_well() {
  siginfo_t info{};
  if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
  const bool has_ended_well = info.si_code == CLD_EXITED && info.si_status == 0;
  need(has_ended_well, "process " + std::to_string(info.si_pid) + " of this benchmark failed (" +
                           (info.si_code == CLD_EXITED ? "status " : "signal ") +
                           std::to_string(info.si_status) + ")");
}

}  // namespace

Event::Event() : fd_(::eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC)) {
  need(fd_.is_open(), "eventfd failed");
}

void Event::post(std::uint64_t count) const {
  need(::write(fd_.get(), &count, sizeof count) == sizeof count, "an event could not be posted");
}

void Event::wait() const {
  pollfd entry{fd_.get(), POLLIN, 0};
  for (int waited = 0; ::poll(&entry, 1, kStepMs) != 1; waited += kStepMs) {
    need_children_well();
    need(waited < kPatienceMs, "another process of this benchmark did not answer within a minute");
  }
  std::uint64_t taken = 0;
  need(::read(fd_.get(), &taken, sizeof taken) == sizeof taken, "an event could not be taken");
}

Child::Child(const std::function<void()>& body) {
  std::fflush(stdout);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  need(pid_ >= 0, "fork failed");
  if (pid_ == 0) run_body(body, parent);
}

Child::~Child() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  wait_for(pid_);
}

void Child::join() {
  const pid_t pid = pid_;
  pid_ = -1;
  const int status = wait_for(pid);
  need(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child process failed");
}

}  // namespace kvtier::bench
