#pragma once
// From what all paths were found to hold to what the store is: pure, nothing is written here. A refusal leaves
// everything as it is.

#include <cstdint>
#include <span>
#include <vector>

#include "daemon/disk/format_superblock.h"
#include "daemon/disk/store_options.h"

namespace kvtier {

struct PathFinding {
  StoreFile file;
  SuperblockChoice superblock;
  bool has_content = false;     ///< of a new one: something lies where segments begin or end
  std::uint64_t epoch_max = 0;  ///< of its segment headers and trailers
};

/// Its store was made in another file: it may be a copy.
bool is_elsewhere(const PathFinding& path);
/// Of the file that its store had when it opened last, and that are gone: it was cut from outside.
std::uint64_t lost_bytes(const PathFinding& path);

struct StoreChoice {
  std::vector<Superblock> superblocks;  ///< to be written, one a path: epoch and revision are raised
  bool is_new = false;
  bool is_path_missing = false;      ///< the store has more paths than there are now
  std::uint32_t given_up_count = 0;  ///< paths that are struck off by this choice
};

/// kInvalid: another store's path, one path twice, one that was given up, content without superblock, a copy (D-15). kNoSpace: no room for the
/// segments that a store needs. kVersion and kCorrupt are choose_superblock()'s.
Result<StoreChoice> choose_store(std::span<const PathFinding> paths, const DiskStoreOptions& options,
                                 std::uint64_t wall_ns);

/// Segments of that size in a file, with what lies before them.
constexpr std::uint64_t segments_in(std::uint64_t file_bytes, std::uint64_t segment_bytes) {
  return file_bytes <= kSegmentsOffset ? 0 : (file_bytes - kSegmentsOffset) / segment_bytes;
}
/// Where so many of them end.
constexpr std::uint64_t segments_end(std::uint64_t count, std::uint64_t segment_bytes) {
  return kSegmentsOffset + count * segment_bytes;
}
/// Fewer cannot work: one open, one to move into, one to be reclaimed.
inline constexpr std::uint32_t kSegmentsMin = 4;

}  // namespace kvtier
