#pragma once
// How large the file of a path becomes: all of it allocated at once (D-11, R-04), beside the headroom of its file system.
// Knows no format. Calls the system; once, at start, after it was decided what the files are.

#include "daemon/disk/path_owner.h"

namespace kvtier {

struct PathSizeOptions {
  std::uint64_t bytes_max = 0;   ///< of disk: the file is made so large at once, and never larger
  std::uint64_t bytes_min = 0;   ///< what is of use
  std::uint64_t step_bytes = 0;  ///< a segment: where the disk has less, as many of them as there is room for
  std::uint64_t headroom_bytes = 0;  ///< of its file system: stays free for others
  bool is_given_up = false;          ///< what the file has: it is emptied, and begins anew
};

/// What there is to divide.
struct PathRoom {
  std::uint64_t file_bytes = 0;       ///< size of the file
  std::uint64_t allocated_bytes = 0;  ///< of it on disk
  std::uint64_t free_bytes = 0;       ///< of the file system, for this user
};
/// The size that its file gets: never smaller than it is; whole steps above bytes_min where bytes_max does not fit beside
/// the headroom. Less than bytes_min: it cannot be.
std::uint64_t path_bytes_fitting(const PathSizeOptions& options, const PathRoom& room);

/// The size that size_path() would give it now; nothing is changed. kInvalid: the file is larger than bytes_max.
/// kNoSpace: not even bytes_min beside the headroom. kSystem. Messages name the cure.
Result<std::uint64_t> plan_path_size(const OwnedPath& path, const PathSizeOptions& options);
/// Makes it so, durably. Failures as above; after one disown_path() undoes what was done, but for what was given up.
Status size_path(OwnedPath& path, const PathSizeOptions& options);

}  // namespace kvtier
