#pragma once
// The NVMe tier at start: folders, ring, agent. What does not open is left out and said; the rest serves.
//
// Thread: the one that starts the daemon. Calls the system and waits for it: allocates files, tries devices.

#include <memory>
#include <string>
#include <vector>

#include "daemon/io/ring_waiter.h"
#include "daemon/tier/disk_agent.h"
#include "daemon/tier/path_set.h"

namespace kvtier {

struct NvmeTierOptions {
  std::vector<DiskFolder> paths;
  IoEngine engine = IoEngine::kAuto;
  DirectUse direct = DirectUse::kAuto;
  HomePolicy home = HomePolicy::kRefuse;
  MissingPolicy missing = MissingPolicy::kKeep;
  std::uint64_t segment_bytes = 256 * kMiB;
  std::uint64_t headroom_bytes = 0;  ///< of each file system, that stays free; 0: chosen (path_opening.h)
  TimeNs io_deadline_ns = 5 * kNsPerSecond;
  std::uint64_t write_budget_bytes_per_day = 0;  ///< 0: no limit
  std::uint64_t slab_bytes = 0;                  ///< of the host tier: no block is larger
  std::uint32_t slabs_max = 0;
  std::string instance;
  Counters* counters = nullptr;  ///< outlives the tier; null: none
};

/// How the tier was opened. Constant after the start.
struct NvmeTierFacts {
  std::vector<DiskPathFacts> paths;  ///< in the order of the options
  std::vector<std::size_t> opened;   ///< of those, the agent's paths in its order
  IoFact<std::string> engine;
  IoFact<std::uint32_t> depth;
  std::string refusal;  ///< why there is no tier; empty: there is
  std::uint64_t spaces_known = 0;
  std::vector<std::string> spaces_damaged;  ///< files of spaces that lost some, or all
  std::vector<std::string> spaces_kept;     ///< what damaged ones were copied to
  std::uint64_t spaces_corrupt = 0;         ///< records of the files of spaces that were skipped
};

/// What a damaged file of spaces means, and what to do.
std::string damaged_spaces_text(const std::string& file);
/// What it means that recovery found blocks of spaces that nobody described, and what to do; empty: it found none.
std::string unknown_spaces_text(const NvmeTierFacts& facts, const DiskSnapshot& now);
/// The same of a path that the store has and the settings do not name; empty: each is named, or one of those that are named is
/// not in the store, which is said of that one.
std::string missing_path_text(const NvmeTierFacts& facts, const DiskSnapshot& now);
/// Damaged copies that no scrub has answered for; empty: there are none.
std::string damage_text(const NvmeTierFacts& facts, const DiskSnapshot& view);
/// The same of segments that the device did not give all of when the tier opened; empty: there are none.
std::string unread_segments_text(const DiskSnapshot& now);

/// Agent, its channel, and where it sleeps.
class NvmeTier {
 public:
  /// The threads' conductor, before any of them runs; it outlives the tier.
  void set_conductor(Waiter& conductor) { conductor_.set(conductor); }
  DiskPort& port() { return port_; }
  /// The spaces of what earlier daemons stored, without ids: each that is still wanted is given ids and sent as kSpace,
  /// before kOpen. Blocks of the others come as entries without a tenant. Once.
  [[nodiscard]] std::vector<DiskSpace> take_known_spaces() { return std::move(known_); }
  DiskAgent& agent() { return *agent_; }
  DiskChannel& channel() { return channel_; }
  [[nodiscard]] const DiskSnapshotCell& snapshot() const { return agent_->snapshot(); }
  /// After its thread ended, before the host's memory goes: takes ring and store down. False: the device still has
  /// memory and would be waited for; they are left as they are, for the process that ends.
  bool end();
  Waiter& waiter() { return *waiter_; }
  /// Any thread: kClose, of which the snapshot tells the end. False: the mailbox is full, again later.
  [[nodiscard]] bool close() { return channel_.commands.push({.kind = DiskCommandKind::kClose}); }

 private:
  friend struct DiskOpening;
  NvmeTier(const DiskAgentOptions& options, DiskAgentParts parts, std::unique_ptr<RingWaiter> waiter);

  LateWaiter conductor_;
  std::unique_ptr<RingWaiter> waiter_;
  DiskChannel channel_;
  MailboxDiskPort port_;
  std::vector<DiskSpace> known_;
  std::unique_ptr<DiskAgent> agent_;  ///< goes first: it has the ring that the waiter looks at
};

struct DiskOpening {
  NvmeTierFacts facts;
  Status status;                   ///< why there is no tier
  std::unique_ptr<NvmeTier> tier;  ///< null: no path opened, or the ring did not

  static DiskOpening open(const NvmeTierOptions& options);

 private:
  Status open_paths(PathSet& paths, const NvmeTierOptions& options, DiskAgentParts& parts);
  void open_catalog(PathSet& paths, SpaceCatalog& catalog);
  Status open_agent(const DiskAgentOptions& options, const IoEngineOptions& engine, DiskAgentParts parts);
};

/// What is taken of a day's budget for puts, and for moving what is worth keeping.
struct BudgetShares {
  WriteBudgetOptions puts;
  WriteBudgetOptions moves;
};
BudgetShares share_budget(std::uint64_t bytes_per_day);

}  // namespace kvtier
