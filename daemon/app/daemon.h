#pragma once
// Builds the modules in the order of their ranks, starts and stops the agents. The only place that knows
// concrete classes of all of them.

#include <memory>

#include "daemon/admin/admin_server.h"
#include "daemon/agent/agent_runner.h"
#include "daemon/agent/eventfd_waiter.h"
#include "daemon/app/conductor_round.h"
#include "daemon/app/place.h"
#include "daemon/app/progress_fd_store.h"
#include "daemon/config/load_config.h"
#include "daemon/config/memory_limits.h"
#include "daemon/observe/error_log.h"
#include "daemon/observe/log.h"
#include "daemon/tier/disk_opening.h"

namespace kvtier {

class Daemon {
 public:
  /// A status whose code tells the exit: kExists already running, kNoSpace memory, kInvalid and kDenied
  /// configuration.
  static Result<std::unique_ptr<Daemon>> create(std::shared_ptr<const Config> config,
                                                std::unique_ptr<FdStore> fds);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  /// Threads run; clients can connect from here on.
  Status start();
  /// To the log, once clients are answered.
  void say_serving();
  /// Ends the NVMe tier cleanly where that takes less than a few seconds, then the threads.
  void stop();
  /// What the start still waits for: nvme.recover. Empty: nothing.
  [[nodiscard]] std::string recovery() const;

  /// Any agent hangs in a round.
  [[nodiscard]] bool is_frozen() const;
  [[nodiscard]] std::string summary() const;
  Log& log() { return *log_; }
  [[nodiscard]] const Config& config() const { return *config_; }
  /// Takes over what may change while running; says what needs a restart.
  void reload(const ConfigLoad& loaded);

 private:
  Daemon() = default;
  Status open_observation();
  void open_tier();
  void describe_spaces();
  void close_tier();
  Status open_store();
  Status choose_pages(const Result<MemoryLimits>& limits, StoreOptions& options);
  Status open_conductor();
  Status open_admin();
  void make_runners();
  [[nodiscard]] bool is_warm() const { return fds_->held_bytes() > 0 && store_->cold_reason().empty(); }

  SystemClock clock_;
  std::shared_ptr<const Config> config_;
  std::unique_ptr<FdStore> fds_;
  Place place_;  ///< given up last: the counters file goes before its lock
  std::unique_ptr<ProgressFdStore> progress_;
  std::unique_ptr<Counters> counters_;
  std::unique_ptr<ErrorLog> errors_;
  std::unique_ptr<Log> log_;
  NvmeTierFacts tier_facts_;
  std::unique_ptr<NvmeTier> tier_;  ///< null: none. Its port outlives the store
  std::unique_ptr<Store> store_;
  std::unique_ptr<Conductor> conductor_;
  std::unique_ptr<EventfdWaiter> checksum_waiter_;
  std::unique_ptr<ChecksumAgent> checksums_;
  std::unique_ptr<AdminServer> admin_;
  std::unique_ptr<ConductorRound> round_;
  std::unique_ptr<AgentRunner> conductor_runner_;
  std::unique_ptr<AgentRunner> checksum_runner_;
  std::unique_ptr<AgentRunner> tier_runner_;
  std::unique_ptr<AgentRunner> admin_runner_;
};

}  // namespace kvtier
