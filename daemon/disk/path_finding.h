#pragma once
// What a path was found to hold, before it is decided what it is.

#include <cstdint>
#include <string>

#include "daemon/disk/format_superblock.h"
#include "daemon/disk/store_options.h"

namespace kvtier {

struct PathFinding {
  StoreFile file;
  Status status;           ///< not ok: what it holds is not known, for that cause, and nothing below counts
  bool is_unread = false;  ///< of those: the device failed, and may not the next time
  SuperblockChoice superblock;
  bool has_content = false;     ///< of a new one: something lies where segments begin or end
  std::uint64_t epoch_max = 0;  ///< of its segment headers and trailers

  [[nodiscard]] bool has_store() const { return status.is_ok() && !superblock.is_new; }
};

/// Its store was made in another file: it may be a copy.
bool is_elsewhere(const PathFinding& path);
/// Of the file that its store had when it opened last, and that are gone: it was cut from outside.
std::uint64_t lost_bytes(const PathFinding& path);

/// Segments of that size in a file, with what lies before them.
constexpr std::uint64_t segments_in(std::uint64_t file_bytes, std::uint64_t segment_bytes) {
  return file_bytes <= kSegmentsOffset ? 0 : (file_bytes - kSegmentsOffset) / segment_bytes;
}
/// Where so many of them end.
constexpr std::uint64_t segments_end(std::uint64_t count, std::uint64_t segment_bytes) {
  return kSegmentsOffset + count * segment_bytes;
}

}  // namespace kvtier
