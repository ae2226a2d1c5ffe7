#include "tools/kvsim/disk_log.h"

#include <algorithm>
#include <utility>

namespace kvtier::sim {

DiskLog::DiskLog(std::uint32_t capacity_blocks, std::uint32_t segment_blocks, std::uint32_t unique_blocks)
    : segment_blocks_(segment_blocks),
      segments_(std::max(2U, capacity_blocks / segment_blocks)),
      copies_(unique_blocks) {}

void DiskLog::put(BlockNumber block) {
  if (has(block)) return;
  ++puts_;
  append(block);
}

// A copy that is new has to prove itself anew.
void DiskLog::append(BlockNumber block) {
  if (segments_[open_].size() == segment_blocks_) open_next();
  segments_[open_].push_back(block);
  copies_[block] = {.segment = open_, .is_used = false};
}

// The next one is the oldest. What is moved out of it goes first into the room that this made; where all of it was used
// there is no room, but the round after they are not used any more.
void DiskLog::open_next() {
  do {
    open_ = (open_ + 1) % static_cast<std::uint32_t>(segments_.size());
    reclaim(open_);
    for (const BlockNumber block : moving_) {
      ++moves_;
      segments_[open_].push_back(block);
      copies_[block] = {.segment = open_, .is_used = false};
    }
    moving_.clear();
  } while (segments_[open_].size() == segment_blocks_);
}

void DiskLog::reclaim(std::uint32_t segment) {
  for (const BlockNumber block : std::exchange(segments_[segment], {})) {
    if (copies_[block].segment != segment) continue;
    if (copies_[block].is_used) moving_.push_back(block);
    copies_[block].segment = kNowhere;
  }
}

}  // namespace kvtier::sim
