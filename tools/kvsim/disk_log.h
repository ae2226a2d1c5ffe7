#pragma once
// The NVMe tier as far as hits and bytes written go: a log of segments, filled one after the other. When all are full the
// oldest is reclaimed, as in the daemon: copies that were used since they were written are moved to the new end once more,
// the others are dropped.

#include <cstdint>
#include <vector>

#include "tools/traces/trace.h"

namespace kvtier::sim {

class DiskLog {
 public:
  /// Rounded down to whole segments, of which there are at least two.
  DiskLog(std::uint32_t capacity_blocks, std::uint32_t segment_blocks, std::uint32_t unique_blocks);

  [[nodiscard]] bool has(BlockNumber block) const { return copies_[block].segment != kNowhere; }
  /// Written, if it is not there.
  void put(BlockNumber block);
  /// Of memory or of its copy.
  void used(BlockNumber block) { copies_[block].is_used = true; }

  [[nodiscard]] std::uint64_t puts() const { return puts_; }
  [[nodiscard]] std::uint64_t moves() const { return moves_; }
  /// Blocks written for each that was put.
  [[nodiscard]] double write_amplification() const {
    return puts_ == 0 ? 0 : static_cast<double>(puts_ + moves_) / static_cast<double>(puts_);
  }

 private:
  static constexpr std::uint32_t kNowhere = 0xffffffff;
  struct Copy {
    std::uint32_t segment = kNowhere;
    bool is_used = false;
  };

  void append(BlockNumber block);
  void open_next();
  void reclaim(std::uint32_t segment);

  std::uint32_t segment_blocks_;
  std::vector<std::vector<BlockNumber>> segments_;
  std::vector<BlockNumber> moving_;  // wait for room at the end
  std::uint32_t open_ = 0;           // the segment that is filled
  std::vector<Copy> copies_;         // by block
  std::uint64_t puts_ = 0;
  std::uint64_t moves_ = 0;
};

}  // namespace kvtier::sim
