#include "daemon/disk/path_finding.h"

#include <algorithm>

namespace kvtier {

bool is_elsewhere(const PathFinding& path) {
  if (!path.has_store()) return false;
  const Superblock& block = path.superblock.superblock;
  return !is_same_home({block.home_inode, block.home_birth_ns, block.home_fsid}, path.file.home);
}

std::uint64_t lost_bytes(const PathFinding& path) {
  if (!path.has_store()) return 0;
  const Superblock& block = path.superblock.superblock;
  const std::uint64_t had = segments_end(block.segment_count, block.segment_bytes);
  return had - std::min(had, path.file.bytes);
}

}  // namespace kvtier
