// Whether the files of the tier are where the next start will look for them. Looked at when somebody asks, on the thread
// that answers: the device's own thread goes on.

#include <sys/stat.h>

#include <cerrno>

#include "daemon/admin/nvme_status.h"

namespace kvtier {

std::string nvme_place_complaint(const DiskPathFacts& path) {
  const std::string file = path.folder + "/" + kStoreFileName;
  struct stat found {};
  const bool is_there = ::lstat(file.c_str(), &found) == 0;
  if (is_there && found.st_ino == path.file_inode) return {};
  if (!is_there && errno != ENOENT && errno != ENOTDIR) return {};  // nobody knows
  return "NVMe path " + path.folder + " serves, but its file was " +
         (is_there ? "replaced by another" : "removed or moved") +
         ": what is on it is gone at the next start; restart kvtierd for a new one, or put " + file +
         " back first if it was moved";
}

}  // namespace kvtier
