#pragma once
// The daemon that a benchmark runs on: its own kvtierd beside the kvbench binary, in a private folder, or a
// running one named by --socket.

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "tools/kvbench/support/daemon_counters.h"

namespace kvtier::bench {

struct DaemonOptions {
  std::string socket{};  ///< not empty: use the daemon that listens there
  std::uint64_t host_bytes = 0;
  std::string config{};  ///< text of a configuration file; empty: the defaults
};

class DaemonProcess {
 public:
  /// Returns when it answers; throws with the end of its log when it does not.
  explicit DaemonProcess(const DaemonOptions& options);
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;
  /// Stops its own daemon and removes the folder.
  ~DaemonProcess();

  /// Ends its own daemon as a crash does.
  void kill();

  [[nodiscard]] const std::string& socket() const { return socket_; }
  [[nodiscard]] pid_t pid() const;
  [[nodiscard]] DaemonCounters counters() const;

 private:
  void start(const DaemonOptions& options);
  void wait_until_ready();
  [[noreturn]] void fail(const std::string& why);
  void stop();

  std::string socket_;
  std::string folder_;  ///< empty: not our daemon
  pid_t child_ = -1;
};

}  // namespace kvtier::bench
