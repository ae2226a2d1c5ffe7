#pragma once
// What a store is given when it is made. Maxima bound its memory, which is taken at construction.

#include <cstdint>
#include <string>

#include "daemon/disk/file_home.h"
#include "daemon/disk/format_geometry.h"
#include "daemon/disk/write_budget.h"
#include "daemon/io/io_types.h"
#include "libkvclient/base/status.h"
#include "libkvclient/base/units.h"

namespace kvtier {

/// A path's file as its owner opened it (path_owner.h); a simulation makes its own. On the ring's table already.
struct StoreFile {
  IoFile file{};
  std::uint64_t bytes = 0;  ///< allocated: the store never goes beyond
  FileHome home;            ///< where it lies: a copy elsewhere is told from the original by it
  std::string folder;       ///< for messages; empty: the path's number is
};

/// What to do with a file that lies elsewhere than where its store was made. One that lies there is kept, always.
enum class HomePolicy : std::uint8_t {
  kRefuse,  ///< it may be a copy, whose original lives on (D-15)
  kMoved,   ///< somebody says that the original is gone: the same store, here from now on
  kFresh,  ///< somebody says that it is a copy: it is emptied before the store opens, by whoever owns the file
};

/// What to do without a path that the store had and that is not here.
enum class MissingPolicy : std::uint8_t {
  kKeep,    ///< it may come back: what is invalidated is noted for it for ever
  kGiveUp,  ///< somebody says that it is gone for good: struck off, and refused should it come back
};

struct DiskStoreOptions {
  std::uint32_t puts_max = 512;  ///< a path: accepted and not answered
  std::uint32_t gets_max = 1024;
  std::uint32_t flushes_max = 64;
  std::uint32_t marks_max =
      16384;  ///< tombstones and invalidations of which none stands for another; more are found at start all the same
  std::uint64_t block_bytes_max = 2 * kMiB;  ///< of a payload: sizes the buffer that recovery and reclaim use
  std::uint64_t segment_bytes = 256 * kMiB;  ///< of a new store
  std::uint32_t alignment = kAlignmentMin;   ///< of a new store: what every slot is aligned to
  std::uint32_t free_segments_low =
      2;  ///< a path: reclaim begins below; 2 at least, as one is for what it moves
  std::uint32_t keep_percent_max = 50;        ///< of a segment: what reclaim moves at most, so that it gains
  TimeNs io_deadline_ns = 5 * kNsPerSecond;   ///< of each request: a device that is later is slow
  TimeNs probe_interval_ns = kNsPerSecond;    ///< of a path that failed or was slow; doubles up to 32 times
  std::uint64_t wall_minus_monotonic_ns = 0;  ///< for times on disk
  WriteBudgetOptions budget;                  ///< of what reclaim rewrites
  HomePolicy home = HomePolicy::kRefuse;
  MissingPolicy missing = MissingPolicy::kKeep;
  bool is_path_left_out =
      false;       ///< by whoever looked at the files before, and it may be the store's: it counts as missing
  Status refusal;  ///< what whoever looked at the files before found: not ok, they stay shut for that cause
  StoreId fresh_store{};             ///< random: the id of a store that is made
  IoRegion scratch_region{};         ///< a place of the ring's table for the store's own memory
  std::uint32_t syncs_left_out = 0;  ///< tests: a bit for each SyncCause (path_sync.h)
};

/// Of one segment: what is open has an index of fixed size.
inline constexpr std::uint32_t kScopesMax = 256;
/// A unit between two superblock copies, of any value: probes write it.
inline constexpr std::uint64_t kProbeOffset = kSuperblockStrideBytes / 2;

}  // namespace kvtier
