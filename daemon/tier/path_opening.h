#pragma once
// One folder of the NVMe tier at start: tried out by doing, owned, and, once all were looked at, sized. Calls the system and
// waits for it.

#include <cstdint>
#include <string>

#include "daemon/disk/path_size.h"
#include "daemon/disk/store_choice.h"
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
  std::string instance;              ///< for the next one that finds the folder locked
  IoEngineOptions engine;
};

/// What a folder turned out to be, in effect. Constant after the start.
struct DiskPathFacts {
  std::string folder;
  std::uint64_t bytes_wanted = 0;
  bool is_open = false;
  std::string cause;        ///< why it is not
  std::uint64_t bytes = 0;  ///< of its file
  bool is_short = false;    ///< it is, or was found, smaller than it is to be: short_path_text() says how
  std::uint64_t lost_bytes = 0;      ///< of the file that its store had: it was cut from outside
  std::uint64_t given_up_bytes = 0;  ///< of a file that was emptied, by nvme.home: fresh
  std::uint64_t file_inode = 0;      ///< of its file, as it was opened
  std::uint64_t headroom_bytes = 0;  ///< that stay free
  std::string file_system;
  IoFact<bool> direct;
  std::uint32_t alignment = 1;  ///< of every request, as the device wants it
  IoFact<bool> registered_buffers;
};

/// Why its file is smaller than the settings say, or was than its store, and what to do.
std::string short_path_text(const DiskPathFacts& facts);
/// What was lost with the end of the file; empty: nothing.
std::string lost_path_text(const DiskPathFacts& facts);

/// What its file is to be, from what it was found to hold: a store that is there keeps its segments' size.
PathSizeOptions path_size_options(const PathFinding& finding, const PathOpeningOptions& options,
                                  const DiskPathFacts& facts);
/// size_path(), and what came out.
Status settle_disk_path(OwnedPath& path, const PathSizeOptions& size, DiskPathFacts& facts);

/// Tried out and owned; nothing is changed. `facts` is filled in whatever comes out. Failures: those of the probe and of own_path; kUnsupported: O_DIRECT is
/// demanded and does not work.
Result<OwnedPath> open_disk_path(const DiskFolder& folder, const PathOpeningOptions& options,
                                 DiskPathFacts& facts);

}  // namespace kvtier
