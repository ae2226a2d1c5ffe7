#pragma once
// The folder of a path: locked for life, its file opened. Knows no format, resizes nothing (path_size.h). Calls the
// system; once, at start.

#include <cstdint>
#include <string>

#include "daemon/disk/file_home.h"
#include "libkvclient/base/result.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier {

inline constexpr const char* kStoreFileName = "kvtier.data";
inline constexpr const char* kStoreLockName = "kvtier.lock";

struct PathOwnerOptions {
  std::string folder;
  bool use_direct = false;  ///< O_DIRECT, which a probe found to work
  std::string instance;     ///< who this is, for the next one that finds it locked: "pid 17, socket S"
};

struct OwnedPath {
  std::string folder;
  UniqueFd lock;  ///< held as long as it is open; a process that dies lets go
  UniqueFd data;  ///< locked too: the kernel holds that lock until the last request of a dead process is over
  std::uint64_t bytes = 0;        ///< of the file, now
  std::uint64_t bytes_found = 0;  ///< when it was opened: 0 where there was none
  FileHome home;
  bool is_short = false;         ///< less than it was to have: the disk had no more, beside the headroom
  bool is_created = false;       ///< there was no file
  bool is_lock_created = false;  ///< there was no lock
};

/// An opening that was refused later leaves nothing behind: what own_path() made is removed, what grew is as large as it
/// was found. The files stay open and locked, for whoever still names them.
void disown_path(OwnedPath& path);

/// Waits a few seconds for requests of a process that died. kExists: another process, or another path of this one, has
/// the folder; says who. kInvalid: a file is no regular one. kNotFound, kDenied, kSystem. Messages name the cure. Nothing
/// that was there is changed; what a failure had made is removed.
Result<OwnedPath> own_path(const PathOwnerOptions& options);

}  // namespace kvtier
