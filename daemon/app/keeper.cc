#include "daemon/app/keeper.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>

#include "daemon/app/exit_code.h"
#include "daemon/app/keeper_wire.h"
#include "daemon/app/restart_policy.h"
#include "libkvclient/base/clock.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

class Keeper {
 public:
  explicit Keeper(const std::vector<std::string>& command) : command_(command) {}

  int run() {
    if (!prepare()) return kExitFailure;
    while (true) {
      const TimeNs started_ns = clock_.now_ns();
      if (!start_child()) return kExitFailure;
      const int status = serve_until_exit();
      socket_.reset();
      if (is_stopping_) return WIFEXITED(status) ? WEXITSTATUS(status) : kExitOk;
      const std::optional<TimeNs> pause_ns =
          policy_.after({status, clock_.now_ns() - started_ns, has_served_});
      report(status, pause_ns);
      if (!pause_ns.has_value()) return policy_.exit_code();
      wait_before_restart(*pause_ns);
      if (is_stopping_) return kExitOk;
    }
  }

 private:
  bool prepare() {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
      files.rlim_cur = files.rlim_max;
      (void)::setrlimit(RLIMIT_NOFILE, &files);  // refused: as many descriptors as before
    }
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&set, signal);
    ::sigprocmask(SIG_BLOCK, &set, &old_mask_);
    signals_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    return signals_.is_open();
  }

  bool start_child() {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
      return std::perror("kvtier-keeper: socketpair"), false;
    socket_.reset(pair[0]);
    has_served_ = false;
    UniqueFd theirs(pair[1]);
    const pid_t parent = ::getpid();
    child_ = ::fork();
    if (child_ < 0) return std::perror("kvtier-keeper: fork"), false;
    if (child_ == 0) run_child(theirs.get(), parent);
    return true;
  }

  [[noreturn]] void run_child(int socket, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(kExitFailure);
    ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
    const UniqueFd inherited(::dup(socket));  // a duplicate is not close-on-exec
    ::setenv(kKeeperFdVariable, std::to_string(inherited.get()).c_str(), 1);
    std::vector<char*> argv;
    argv.reserve(command_.size() + 1);
    for (const std::string& word : command_) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    std::perror(("kvtier-keeper: cannot run " + command_[0]).c_str());
    ::_exit(kExitUsage);
  }

  int serve_until_exit() {
    while (true) {
      pollfd entries[2] = {{signals_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}};
      if (::poll(entries, 2, -1) < 0 && errno != EINTR) return 0;
      if ((entries[1].revents & (POLLIN | POLLHUP)) != 0) serve_one();
      int status = 0;
      if (take_signals(status)) return status;
    }
  }

  // True: the child ended.
  bool take_signals(int& status) {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
      const int signal = static_cast<int>(info.ssi_signo);
      if (signal == SIGCHLD) continue;
      if (signal != SIGHUP) is_stopping_ = true;
      if (child_ > 0) ::kill(child_, signal);
    }
    if (child_ <= 0 || ::waitpid(child_, &status, WNOHANG) != child_) return false;
    // What it sent before it died is still in the socket.
    while (socket_.is_open() && has_record()) serve_one();
    child_ = -1;
    return true;
  }

  [[nodiscard]] bool has_record() const {
    pollfd entry{socket_.get(), POLLIN, 0};
    return ::poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0;
  }

  void serve_one() {
    Result<KeeperMessage> message = keeper_receive(socket_.get());
    if (!message.is_ok()) {
      if (message.code() == Code::kUnavailable) socket_.reset();
      return;
    }
    const std::string name(keeper_name(message.value().record));
    switch (message.value().record.op) {
      case KeeperOp::kPut:
        kept_[name] = std::move(message.value().fd);
        break;
      case KeeperOp::kRemove:
        kept_.erase(name);
        break;
      case KeeperOp::kList:
        list();
        break;
      case KeeperOp::kStarted:
        has_served_ = true;
        break;
      default:
        break;
    }
  }

  void list() {
    for (const auto& [name, fd] : kept_) {
      if (!keeper_send(socket_.get(), keeper_record(KeeperOp::kItem, name), fd.get()).is_ok()) return;
    }
    (void)keeper_send(socket_.get(), keeper_record(KeeperOp::kEnd, ""));  // gone: waitpid tells
  }

  void report(int status, std::optional<TimeNs> pause_ns) const {
    if (!pause_ns.has_value() && !policy_.has_given_up()) return;  // kvtierd said why
    const std::string ended = WIFSIGNALED(status) ? "was ended by signal " + std::to_string(WTERMSIG(status))
                                                  : "ended with " + std::to_string(WEXITSTATUS(status));
    const std::string next = pause_ns.has_value()
                                 ? "starting it again in " + format_duration(*pause_ns)
                                 : std::to_string(RestartPolicy::kFailedStartsMax) +
                                       " starts in a row failed: giving up, and what was kept is dropped";
    std::fprintf(stderr, "kvtier-keeper: %s %s; %s\n", command_[0].c_str(), ended.c_str(), next.c_str());
  }

  void wait_before_restart(TimeNs pause_ns) {
    const TimeNs until_ns = clock_.now_ns() + pause_ns;
    // The clock is read once a turn: a pause that ended between two readings must not become an endless one.
    for (TimeNs now_ns = clock_.now_ns(); !is_stopping_ && now_ns < until_ns; now_ns = clock_.now_ns()) {
      pollfd entry{signals_.get(), POLLIN, 0};
      (void)::poll(&entry, 1, static_cast<int>((until_ns - now_ns) / kNsPerMs) + 1);
      int status = 0;
      (void)take_signals(status);
    }
  }

  const std::vector<std::string> command_;
  SystemClock clock_;
  sigset_t old_mask_{};
  UniqueFd signals_;
  UniqueFd socket_;
  std::map<std::string, UniqueFd> kept_;
  pid_t child_ = -1;
  bool is_stopping_ = false;
  bool has_served_ = false;  ///< the child's start succeeded
  RestartPolicy policy_;
};

}  // namespace

int keep(const std::vector<std::string>& command) {
  return Keeper(command).run();
}

}  // namespace kvtier
