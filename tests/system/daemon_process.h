#pragma once
// The real kvtierd (and kvtier-keeper) as child processes, with a directory, sockets and a notify socket of
// their own. Everything waits for events; a test's time limit is CTest's.

#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libkvclient/base/clock.h"
#include "libkvclient/base/unique_fd.h"
#include "tests/support/scratch_dir.h"

namespace kvtier::test {

/// How long a test waits for what must come. Never a measure of speed.
inline constexpr TimeNs kPatienceNs = 30 * kNsPerSecond;

/// What a service manager would hear and keep.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& path);
  /// The descriptor store: what FDSTORE=1 put and FDSTOREREMOVE=1 did not remove.
  std::multimap<std::string, UniqueFd>& stored() { return stored_; }
  /// The next datagram whose text contains `what`; earlier ones are kept in heard(). False: none within the
  /// time.
  bool wait_for(const std::string& what, TimeNs timeout_ns);
  /// Takes what is there without waiting.
  void drain();
  [[nodiscard]] const std::vector<std::string>& heard() const { return heard_; }
  [[nodiscard]] bool has_heard(const std::string& what) const;

 private:
  bool take_one(int timeout_ms);
  void keep(const std::string& text, UniqueFd fd);
  UniqueFd socket_;
  std::vector<std::string> heard_;
  std::multimap<std::string, UniqueFd> stored_;
};

/// SIGSTOP to a child of ours. True: all of its threads have stopped, for only then does the kernel tell a parent.
bool pause_child(pid_t child);

/// A child process that dies with the test.
class ChildProcess {
 public:
  struct Options {
    std::vector<std::string> command;
    std::vector<std::string> environment;  ///< "NAME=value", beside ours
    std::string output_path;               ///< stdout and stderr; empty: ours
    uid_t uid = 0;                         ///< of the child; 0: ours
    std::vector<gid_t> groups = {};        ///< of the child, when it has a uid; the first one is its own
    /// Handed over as a service manager does (LISTEN_FDS). Not owned.
    std::vector<std::pair<std::string, int>> listen_fds = {};
    /// The last that the child does before it is the program: limits and filters.
    std::function<void()> before_exec = {};
  };
  explicit ChildProcess(const Options& options);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void signal(int number) const;
  /// Stops it. True: all of its threads have stopped.
  [[nodiscard]] bool pause() const { return pid_ > 0 && pause_child(pid_); }
  void resume() const { signal(SIGCONT); }
  /// Exit code, or 128 + signal. Waits.
  int wait();
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool is_running();

 private:
  pid_t pid_ = -1;
  int status_ = 0;
};

/// A place for one daemon: runtime directory, sockets, configuration, output.
class DaemonPlace {
 public:
  DaemonPlace();
  [[nodiscard]] std::string socket() const { return dir_.file("run/kvtierd.sock"); }
  [[nodiscard]] std::string admin_socket() const { return dir_.file("run/admin.sock"); }
  [[nodiscard]] std::string runtime_dir() const { return dir_.file("run"); }
  [[nodiscard]] std::string file(const std::string& name) const { return dir_.file(name); }
  [[nodiscard]] std::string output() const;
  NotifySocket& notify() { return notify_; }

  /// kvtierd with this place's paths, a small host tier, and `more` settings ("host.bytes=1GiB").
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& more = {}) const;
  /// Starts and waits for READY=1; null when it did not come.
  std::unique_ptr<ChildProcess> start(const std::vector<std::string>& more = {});
  /// Starts without waiting.
  std::unique_ptr<ChildProcess> launch(const std::vector<std::string>& command,
                                       const std::vector<std::string>& environment = {},
                                       const std::vector<std::pair<std::string, int>>& listen_fds = {});
  /// Writes the configuration file that command() names.
  void write_config(const std::string& yaml) const;

 private:
  ScratchDir dir_;
  NotifySocket notify_{dir_.file("notify")};
};

/// Path of a program of this build: "kvtierd".
std::string program(const std::string& name);
std::string read_file(const std::string& path);
/// Repeats until true or the patience is over; for what has no event of its own.
template <class Condition>
bool eventually(Condition condition) {
  const TimeNs deadline_ns = SystemClock().now_ns() + kPatienceNs;
  while (!condition()) {
    if (SystemClock().now_ns() > deadline_ns) return false;
    ::usleep(2000);
  }
  return true;
}

}  // namespace kvtier::test
