#pragma once
// One folder of the NVMe tier at start: tried out by doing, owned, allocated. Calls the system and waits for it.

#include <cstdint>
#include <string>

#include "daemon/disk/path_owner.h"
#include "daemon/io/probe.h"

namespace kvtier {

enum class DirectUse : std::uint8_t { kAuto, kOn, kOff };

struct DiskFolder {
  std::string folder;
  std::uint64_t bytes = 0;
};

struct PathOpeningOptions {
  DirectUse direct = DirectUse::kAuto;
  std::uint64_t segment_bytes = 0;
  std::uint64_t headroom_bytes = 0;  ///< 0: the larger of 1 GiB and 5 % of each file system
  bool may_shrink = false;           ///< a file larger than its path may be is cut: its blocks are given up
  std::string instance;              ///< for the next one that finds the folder locked
  IoEngineOptions engine;
};

/// What a folder turned out to be, in effect. Constant after the start.
struct DiskPathFacts {
  std::string folder;
  std::uint64_t bytes_wanted = 0;
  bool is_open = false;
  std::string cause;                 ///< why it is not
  std::uint64_t bytes = 0;           ///< of its file
  std::uint64_t file_inode = 0;      ///< of its file, as it was opened
  bool is_short = false;             ///< the disk had less than bytes_wanted, beside the headroom
  std::uint64_t headroom_bytes = 0;  ///< that stay free
  std::string file_system;
  IoFact<bool> direct;
  std::uint32_t alignment = 1;  ///< of every request, as the device wants it
  IoFact<bool> registered_buffers;
};

/// Why its file is smaller than the settings say, and what to do.
std::string short_path_text(const DiskPathFacts& facts);

/// `facts` is filled in whatever comes out. Failures: those of the probe and of own_path; kUnsupported: O_DIRECT is
/// demanded and does not work.
Result<OwnedPath> open_disk_path(const DiskFolder& folder, const PathOpeningOptions& options,
                                 DiskPathFacts& facts);

}  // namespace kvtier
