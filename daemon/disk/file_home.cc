#include "daemon/disk/file_home.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <cerrno>
#include <cstring>

#include "libkvclient/base/clock.h"

namespace kvtier {
namespace {

std::uint64_t pack(const fsid_t& id) {
  std::uint64_t packed = 0;
  static_assert(sizeof id == sizeof packed);
  std::memcpy(&packed, &id, sizeof packed);
  return packed;
}

// A kernel or a file system without it says so by the mask; one at 1970 is none.
std::uint64_t birth_of(int file) {
  struct statx facts {};
  if (::statx(file, "", AT_EMPTY_PATH, STATX_BTIME, &facts) != 0 || (facts.stx_mask & STATX_BTIME) == 0)
    return 0;
  if (facts.stx_btime.tv_sec <= 0) return 0;
  return static_cast<std::uint64_t>(facts.stx_btime.tv_sec) * kNsPerSecond + facts.stx_btime.tv_nsec;
}

}  // namespace

Result<FileHome> read_file_home(int file) {
  struct stat facts {};
  struct statfs system {};
  if (::fstat(file, &facts) != 0) return Status::from_errno("fstat", errno);
  if (::fstatfs(file, &system) != 0) return Status::from_errno("fstatfs", errno);
  return FileHome{.inode = facts.st_ino, .birth_ns = birth_of(file), .fsid = pack(system.f_fsid)};
}

}  // namespace kvtier
