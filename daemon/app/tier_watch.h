#pragma once
// The log's eye on the NVMe tier: what it recovered, that it stays shut, or that a path changes its state, is written down
// once. The tier's own
// thread does not write, since it may be waiting for a device.

#include <array>

#include "daemon/observe/log.h"
#include "daemon/tier/disk_opening.h"

namespace kvtier {

/// Thread: whoever calls look(), always the same one.
class TierWatch {
 public:
  /// All outlive the watch.
  TierWatch(const NvmeTierFacts& facts, const DiskSnapshotCell& now, Log& log)
      : facts_(facts), now_(now), log_(log) {}

  void look();

 private:
  void tell_recovered(const DiskSnapshot& view);
  void look_at_damage(const DiskSnapshot& view);
  void look_at_path(std::size_t place, const DiskPathSnapshot& path);

  const NvmeTierFacts& facts_;
  const DiskSnapshotCell& now_;
  Log& log_;
  bool is_refused_ = false;
  bool is_recovered_ = false;
  std::uint64_t damage_told_ = 0;  ///< DiskDamage::count when it was told last, and when that was
  TimeNs damage_told_ns_ = 0;
  std::array<PathState, kPathsMax> states_{};  ///< as they were last, in the agent's order
};

}  // namespace kvtier
