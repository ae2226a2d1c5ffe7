#pragma once
// The daemon under test: kvtierd below kvtier-keeper (warm), or alone and started again by us (cold).

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "libkvclient/base/clock.h"

namespace kvtier::kill {

/// Starts a program; its output goes to the end of `output_path` when that is not empty. It dies with us.
pid_t start_program(const std::vector<std::string>& command, const std::string& output_path,
                    const std::vector<std::string>& environment = {});
/// Waits for its end. -1: it did not come in time (and it was killed). 128 + n: signal n.
int wait_for_exit(pid_t pid, TimeNs timeout_ns);

using CounterValues = std::map<std::string, std::uint64_t>;

class DaemonHost {
 public:
  struct Options {
    std::string bin_dir;
    std::string dir;  ///< made by the caller; sockets, counters and output go there
    bool is_kept = true;
    std::uint64_t host_mib = 64;
    std::string slab = "4MiB";
    std::string config_path = {};  ///< of a configuration file; empty: none
  };
  explicit DaemonHost(Options options) : options_(std::move(options)) {}
  ~DaemonHost();
  DaemonHost(const DaemonHost&) = delete;
  DaemonHost& operator=(const DaemonHost&) = delete;

  /// Until it beats. False: it does not come up.
  bool start();
  /// Starts it and does not wait.
  void launch();
  /// A signal to what was started, and its end: as wait_for_exit. SIGKILL of a plain daemon is its end at any moment.
  int end(int signal, TimeNs timeout_ns);
  void send(int signal) const;
  /// kill -9 of kvtierd itself; plain daemons are started again at once.
  bool kill_daemon();
  /// SIGTERM to all; the exit code.
  int stop();

  [[nodiscard]] std::string socket() const { return options_.dir + "/s.sock"; }
  [[nodiscard]] std::string output_path() const { return options_.dir + "/daemon.log"; }
  /// The last lines of what daemon and keeper wrote.
  [[nodiscard]] std::string output_tail() const;
  /// Of the instance whose counters file is there now; empty when it cannot be read.
  [[nodiscard]] CounterValues counters() const;
  [[nodiscard]] pid_t daemon_pid() const;
  /// Counters of another instance than `old_pid`, or the same whose `sessions` reached `sessions`.
  bool wait_until_serving(pid_t old_pid, std::uint64_t sessions, TimeNs timeout_ns) const;

 private:
  [[nodiscard]] std::vector<std::string> command() const;

  const Options options_;
  pid_t child_ = -1;
};

}  // namespace kvtier::kill
