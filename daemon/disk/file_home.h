#pragma once
// Which file a path's is, so that a copy is told from the original. What a file system says of it must outlive a restart of
// the machine, and a device that gets another number: inode and time of birth do on ext4, XFS, btrfs, tmpfs, and overlay
// over them, and no copy (cp -a, rsync, a restored archive) has both. An image of the whole file system has: it cannot be told.

#include <cstdint>

#include "libkvclient/base/result.h"

namespace kvtier {

struct FileHome {
  std::uint64_t inode = 0;
  std::uint64_t birth_ns = 0;  ///< since 1970; 0: the file system does not say
  std::uint64_t fsid = 0;      ///< f_fsid: of the file system; on XFS and others the number of its device
};

/// Of one inode and one time of birth. Where either was not told, of one inode and one file system, as well as that can be
/// told: a device with another number is then taken for another file system.
constexpr bool is_same_home(const FileHome& a, const FileHome& b) {
  if (a.inode != b.inode) return false;
  return a.birth_ns != 0 && b.birth_ns != 0 ? a.birth_ns == b.birth_ns : a.fsid == b.fsid;
}

/// Of an open file. Calls the system. Failures: kSystem.
Result<FileHome> read_file_home(int file);

}  // namespace kvtier
