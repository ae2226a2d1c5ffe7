#pragma once
// The folder of a path: locked for life, its file opened and all of it allocated. Knows no format. Calls the system;
// once, at start.

#include <cstdint>
#include <string>

#include "libkvclient/base/result.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier {

inline constexpr const char* kStoreFileName = "kvtier.data";
inline constexpr const char* kStoreLockName = "kvtier.lock";

struct PathOwnerOptions {
  std::string folder;
  std::uint64_t bytes_max = 0;   ///< of disk: the file is made so large at once, and never larger
  std::uint64_t bytes_min = 0;   ///< what is of use
  std::uint64_t step_bytes = 0;  ///< a segment: where the disk has less, as many of them as there is room for
  std::uint64_t headroom_bytes = 0;  ///< of its file system: stays free for others
  bool may_shrink = false;           ///< what the file has is given up anyway
  bool use_direct = false;           ///< O_DIRECT, which a probe found to work
  std::string instance;  ///< who this is, for the next one that finds it locked: "pid 17, socket S"
};

struct OwnedPath {
  UniqueFd lock;  ///< held as long as it is open; a process that dies lets go
  UniqueFd data;  ///< locked too: the kernel holds that lock until the last request of a dead process is over
  std::uint64_t bytes = 0;  ///< allocated
  std::uint64_t home_fsid = 0;
  std::uint64_t home_inode = 0;
  bool is_short = false;    ///< less than bytes_max: the disk had no more, beside the headroom
  bool is_created = false;  ///< there was no file
};

/// What there is to divide.
struct PathRoom {
  std::uint64_t file_bytes = 0;       ///< size of the file
  std::uint64_t allocated_bytes = 0;  ///< of it on disk
  std::uint64_t free_bytes = 0;       ///< of the file system, for this user
};
/// The size that its file gets: never smaller than it is; whole steps above bytes_min where bytes_max does not fit beside
/// the headroom. Less than bytes_min: it cannot be.
std::uint64_t path_bytes_fitting(const PathOwnerOptions& options, const PathRoom& room);
/// An opening that was refused later leaves nothing behind: a file that own_path() made is removed.
void disown_path(const OwnedPath& path, const std::string& folder);

/// Waits a few seconds for requests of a process that died. kExists: another process, or another path of this one, has the folder; says who. kInvalid: the file is no regular
/// file, or larger than bytes_max. kNoSpace: not even bytes_min beside the headroom. kNotFound, kDenied, kSystem. Nothing that was there
/// is changed but by growing the file, or shrinking it where that is allowed; a file that was made here is removed.
Result<OwnedPath> own_path(const PathOwnerOptions& options);

}  // namespace kvtier
