#pragma once
// From what all paths were found to hold to what the store is: pure, nothing is written here. A refusal leaves
// everything as it is.

#include <cstdint>
#include <span>
#include <vector>

#include "daemon/disk/judge_paths.h"

namespace kvtier {

struct StoreChoice {
  std::vector<Status> verdicts;  ///< judge_paths()'s, one a path
  std::vector<Superblock>
      superblocks;  ///< to be written, one a path that opens: epoch and revision are raised
  bool is_new = false;
  bool is_path_missing = false;      ///< the store has, or may have, more paths than open now
  std::uint32_t given_up_count = 0;  ///< paths that are struck off by this choice
};

/// Fails as judge_paths() does; kNoSpace: no room for the segments that a store needs.
Result<StoreChoice> choose_store(std::span<const PathFinding> paths, const DiskStoreOptions& options,
                                 std::uint64_t wall_ns);

/// Fewer cannot work: one open, one to move into, one to be reclaimed.
inline constexpr std::uint32_t kSegmentsMin = 4;

}  // namespace kvtier
