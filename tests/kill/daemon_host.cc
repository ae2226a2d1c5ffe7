#include "tests/kill/daemon_host.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "libkvclient/wire/counters_reader.h"

namespace kvtier::kill {

pid_t start_program(const std::vector<std::string>& command, const std::string& output_path,
                    const std::vector<std::string>& environment) {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(126);
  if (!output_path.empty()) {
    const int fd = ::open(output_path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(fd, 1);
    ::dup2(fd, 2);
  }
  for (const std::string& each : environment) ::putenv(const_cast<char*>(each.c_str()));
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

int wait_for_exit(pid_t pid, TimeNs timeout_ns) {
  const SystemClock clock;
  const TimeNs deadline_ns = clock.now_ns() + timeout_ns;
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (clock.now_ns() >= deadline_ns) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      return -1;
    }
    ::usleep(500);
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

DaemonHost::~DaemonHost() {
  if (child_ > 0) (void)stop();
}

std::vector<std::string> DaemonHost::command() const {
  std::vector<std::string> words;
  if (options_.is_kept) words = {options_.bin_dir + "/kvtier-keeper", "--"};
  words.push_back(options_.bin_dir + "/kvtierd");
  if (!options_.config_path.empty()) words.insert(words.end(), {"--config", options_.config_path});
  for (const std::string& each :
       {"runtime_dir=" + options_.dir, "socket=" + socket(), "admin_socket=" + options_.dir + "/a.sock",
        "host.bytes=" + std::to_string(options_.host_mib) + "MiB", "host.slab_bytes=" + options_.slab,
        std::string("host.headroom=0")}) {
    words.insert(words.end(), {"--set", each});
  }
  return words;
}

bool DaemonHost::start() {
  const pid_t old_pid = daemon_pid();
  launch();
  return wait_until_serving(old_pid, 0, 20 * kNsPerSecond);
}

void DaemonHost::launch() {
  child_ = start_program(command(), output_path());
}

void DaemonHost::send(int signal) const {
  if (child_ > 0) ::kill(child_, signal);
}

int DaemonHost::end(int signal, TimeNs timeout_ns) {
  send(signal);
  const int code = wait_for_exit(child_, timeout_ns);
  child_ = -1;
  return code;
}

bool DaemonHost::kill_daemon() {
  const pid_t pid = daemon_pid();
  if (pid <= 0 || ::kill(pid, SIGKILL) != 0) return false;
  if (options_.is_kept) return true;
  int status = 0;
  ::waitpid(child_, &status, 0);
  child_ = start_program(command(), output_path());
  return child_ > 0;
}

int DaemonHost::stop() {
  return end(SIGTERM, 20 * kNsPerSecond);
}

std::string DaemonHost::output_tail() const {
  constexpr std::size_t kTailBytes = 6000;
  std::ostringstream text;
  text << std::ifstream(output_path()).rdbuf();
  const std::string all = text.str();
  return all.size() <= kTailBytes ? all : all.substr(all.size() - kTailBytes);
}

CounterValues DaemonHost::counters() const {
  CounterValues values;
  const Result<CountersReader> reader = CountersReader::open(options_.dir + "/counters");
  if (!reader.is_ok()) return values;
  for (const CounterSample& sample : reader.value().read()) values[sample.name] = sample.value;
  values["pid"] = reader.value().identity().pid;
  values["heartbeat_ns"] = reader.value().heartbeat_ns();
  return values;
}

pid_t DaemonHost::daemon_pid() const {
  CounterValues now = counters();
  return static_cast<pid_t>(now["pid"]);
}

bool DaemonHost::wait_until_serving(pid_t old_pid, std::uint64_t sessions, TimeNs timeout_ns) const {
  const SystemClock clock;
  const TimeNs deadline_ns = clock.now_ns() + timeout_ns;
  while (clock.now_ns() < deadline_ns) {
    CounterValues now = counters();
    if (now["pid"] != 0 && static_cast<pid_t>(now["pid"]) != old_pid && now["heartbeat_ns"] != 0 &&
        now["sessions"] >= sessions && now["slabs_total"] > 0)
      return true;
    ::usleep(1000);
  }
  return false;
}

}  // namespace kvtier::kill
