#pragma once
// The worker processes of one run: started, paused together, killed, and their figures added up.

#include <map>
#include <string>
#include <vector>

#include "tests/kill/daemon_host.h"
#include "tests/kill/worker.h"

namespace kvtier::kill {

class Crew {
 public:
  /// `proto`: everything but cells_path and index. The cells' file is made in `dir`.
  Crew(const std::string& dir, const WorkerOptions& proto);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  struct Start {
    std::vector<std::string> environment;
    std::uint32_t rounds_max = 0;  ///< 0: until it is told to stop
  };
  void start(std::uint32_t index, const Start& how);
  void start(std::uint32_t index) { start(index, Start{}); }
  /// False: it ended or did not begin its loop in time.
  bool wait_running(std::uint32_t index, TimeNs timeout_ns);
  [[nodiscard]] pid_t pid(std::uint32_t index) const { return pids_[index]; }
  [[nodiscard]] WorkerCell& cell(std::uint32_t index) const { return cells_.get().workers[index]; }
  /// Waits for its end, whoever causes it; see wait_for_exit.
  int join(std::uint32_t index, TimeNs timeout_ns);
  /// Indices of workers that ended although nobody asked them to.
  std::vector<std::uint32_t> lost();

  /// All of the first `count` let go of everything and stand still. False: one does not.
  bool pause(std::uint32_t count, TimeNs timeout_ns);
  void resume() { cells_.get().orders.pause.store(0); }
  /// Tells all to end and joins them. The number of those that did not end with 0.
  std::uint64_t stop();

 private:
  const std::string dir_;
  WorkerOptions proto_;
  CellsFile cells_;
  std::vector<pid_t> pids_;
  std::uint64_t starts_ = 0;
};

}  // namespace kvtier::kill
