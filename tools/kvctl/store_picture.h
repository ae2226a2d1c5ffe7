#pragma once
// What the files of a store hold, as its next daemon would find it. Data alone: segment_walk fills it, dump prints it.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/disk/format_order.h"
#include "daemon/disk/format_recovery.h"
#include "daemon/disk/format_superblock.h"

namespace kvtier::ctl {

/// By DiskFault.
struct FaultCounts {
  std::array<std::uint64_t, kDiskFaultCount> counts{};
  void add(DiskFault fault, std::uint64_t count = 1) { counts[static_cast<std::size_t>(fault)] += count; }
  void add(const FaultCounts& other) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  }
  /// Without kNone.
  [[nodiscard]] std::uint64_t total() const;
};

/// About a hundred bytes, so that a million of them fit into memory.
struct PictureRecord {
  Key key{};
  std::uint64_t sequence = 0;
  std::uint64_t born = 0;
  std::uint32_t path = 0;  ///< position in StorePicture::paths
  std::uint32_t segment = 0;
  std::uint32_t scope = 0;          ///< position in StorePicture::scopes
  std::uint32_t header_sector = 0;  ///< offset in the segment, in sectors of 512 bytes
  std::uint32_t payload_sector = 0;
  std::uint32_t payload_bytes = 0;  ///< as stored, without padding
  std::uint32_t block_bytes = 0;
  std::uint32_t header_bytes = 0;
  RecordKind kind = RecordKind::kBlock;
  DiskFault fault = DiskFault::kNone;  ///< found by a check of header and payload
  bool is_live = false;                ///< a block that no mark voids, and the last of its key; or a mark
};

struct PictureSegment {
  std::uint32_t number = 0;
  RecoveryPlan plan;
  bool is_cut = false;           ///< the file ends before it does
  std::uint64_t used_bytes = 0;  ///< to the end of its last group
  std::uint64_t blocks = 0;
  std::uint64_t marks = 0;
  std::uint64_t live_blocks = 0;
  std::uint64_t live_bytes = 0;  ///< payloads
  FaultCounts faults;
};

struct PicturePath {
  std::string folder;
  std::uint64_t file_bytes = 0;
  bool is_live = false;  ///< a daemon had it while it was read
  SuperblockChoice superblock;
  std::vector<PictureSegment> segments;
  std::uint64_t unreadable = 0;  ///< reads that failed
  int error = 0;                 ///< errno of the last of them
};

struct PictureScope {
  IndexScope digests{};
  std::string namespace_name;  ///< empty: the files of spaces do not have it
  std::string model;
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t live_blocks = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t marks = 0;
};

struct StorePicture {
  std::vector<PicturePath> paths;
  std::vector<PictureScope> scopes;
  std::vector<PictureRecord> records;
  FaultCounts faults;                ///< of all
  std::uint64_t spaces_corrupt = 0;  ///< records of the files of spaces
  std::uint64_t unchecked = 0;       ///< payloads larger than a check takes

  /// The scope's position; it is made where it is new.
  std::uint32_t scope_of(const Digest& tenant, const Digest& space);

 private:
  std::map<std::array<std::uint64_t, 8>, std::uint32_t> scope_places_;
};

/// Says of each record whether it lives, and sums up segments, scopes and faults. Once, after all paths.
void settle_picture(StorePicture& picture);

}  // namespace kvtier::ctl
