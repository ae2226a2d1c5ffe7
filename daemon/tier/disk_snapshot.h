#pragma once
// How the NVMe tier is, for other threads: copied by the agent a few times a second, read by kvctl's socket and the main
// thread.

#include <array>
#include <cstdint>
#include <mutex>
#include <string>

#include "daemon/disk/disk_stats.h"
#include "daemon/disk/format.h"
#include "daemon/disk/path_health.h"
#include "daemon/disk/verify_report.h"
#include "libkvclient/base/status.h"
#include "libkvclient/wire/types.h"

namespace kvtier {

enum class NvmeTierState : std::uint8_t {
  kWaiting,  ///< for the conductor's kOpen
  kRecovering,
  kServing,
  kClosing,
  kClosed,
  kRefused,  ///< refusal says why
};
std::string_view nvme_tier_state_name(NvmeTierState state);

struct DiskPathSnapshot {
  PathState state = PathState::kOk;
  int error = 0;                    ///< errno of its last failure; 0: none yet
  std::uint64_t segment_bytes = 0;  ///< its own, whatever nvme.segment_bytes says now; 0: it did not open
  std::uint32_t segments = 0;
  std::uint32_t segments_free = 0;
  std::uint64_t used_bytes = 0;  ///< segments that are not free
  std::uint64_t live_bytes = 0;
};

/// Copies that were read and are not what was written. The last one of them.
struct DiskDamage {
  std::uint64_t count = 0;
  std::uint64_t answered = 0;  ///< so many of them were there when a scrub began that found all good
  DiskFault fault = DiskFault::kNone;
  Digest space{};
  Key key{};
  std::uint8_t path = 0;     ///< in the order of the files
  std::uint64_t offset = 0;  ///< of its header, in the path's file
};

/// Trivially copyable, so that the agent takes no memory for it.
struct DiskSnapshot {
  NvmeTierState state = NvmeTierState::kWaiting;
  Code close_code = Code::kOk;  ///< of kClosed
  bool takes_puts = false;
  bool wants_evidence = false;      ///< the day's budget is low (DiskPort)
  std::uint64_t recovery_done = 0;  ///< of recovery_total steps
  std::uint64_t recovery_total = 0;
  std::uint64_t puts_waiting = 0;  ///< with the agent; those with the store are in flight
  std::uint64_t gets_waiting = 0;
  std::uint64_t puts_over_budget = 0;
  std::uint64_t budget_taken_bytes = 0;
  std::uint64_t budget_left_bytes = 0;  ///< now; all ones: no limit
  std::uint64_t recovered_bytes = 0;    ///< payloads of the blocks that recovery found
  TimeNs recovery_ns = 0;               ///< what it took; 0: it is not over
  std::uint64_t unknown_entries = 0;    ///< of these blocks: of a space that nobody described
  std::uint64_t unknown_bytes = 0;      ///< their payloads
  std::uint64_t spaces_failed = 0;      ///< appends to the files of spaces that failed
  std::uint64_t registered_bytes = 0;   ///< of region_bytes: memory that the kernel maps once
  std::uint64_t region_bytes = 0;
  std::uint64_t requests_held = 0;  ///< answered, and still with the device: it is slow or hangs
  std::uint64_t epoch = 0;
  std::uint32_t paths_given_up = 0;  ///< struck off by this start
  bool is_path_missing = false;      ///< the store has a path that is not here
  TimeNs published_ns = 0;           ///< CLOCK_MONOTONIC
  DiskStats stats;
  DiskDamage damage;
  VerifyReport verify;  ///< of the last scrub
  std::uint32_t path_count = 0;
  std::array<DiskPathSnapshot, kPathsMax> paths{};  ///< in the order of the files
};

class DiskSnapshotCell {
 public:
  /// The agent.
  void publish(const DiskSnapshot& snapshot) {
    const std::lock_guard lock(mutex_);
    snapshot_ = snapshot;
  }
  /// Words that seldom change; they take memory.
  void publish_reasons(std::string refusal, std::string unregistered) {
    const std::lock_guard lock(mutex_);
    refusal_ = std::move(refusal);
    unregistered_ = std::move(unregistered);
  }
  // Any thread.
  [[nodiscard]] DiskSnapshot read() const {
    const std::lock_guard lock(mutex_);
    return snapshot_;
  }
  [[nodiscard]] std::string refusal() const {
    const std::lock_guard lock(mutex_);
    return refusal_;
  }
  /// Why not all memory is registered; empty: it is.
  [[nodiscard]] std::string unregistered() const {
    const std::lock_guard lock(mutex_);
    return unregistered_;
  }

 private:
  mutable std::mutex mutex_;
  // guarded by mutex_
  DiskSnapshot snapshot_;
  std::string refusal_;
  std::string unregistered_;
};

}  // namespace kvtier
