#include "daemon/io/probe_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "daemon/io/place_error.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

constexpr std::pair<unsigned long, const char*> kFileSystems[] = {
    {EXT4_SUPER_MAGIC, "ext4"}, {TMPFS_MAGIC, "tmpfs"},       {OVERLAYFS_SUPER_MAGIC, "overlay"},
    {XFS_SUPER_MAGIC, "xfs"},   {BTRFS_SUPER_MAGIC, "btrfs"}, {F2FS_SUPER_MAGIC, "f2fs"},
    {NFS_SUPER_MAGIC, "nfs"},   {0x65735546, "fuse"},         {0x2fc12fc1, "zfs"}};

int open_named(const std::string& folder, int flags) {
  std::string name = folder + "/.kvtier-probe-XXXXXX";
  const int fd = ::mkostemp(name.data(), O_CLOEXEC | flags);
  const int error = errno;
  if (fd >= 0) ::unlink(name.c_str());
  errno = error;
  return fd;
}

}  // namespace

// A file system without unnamed files says EOPNOTSUPP, an old kernel EISDIR.
Result<UniqueFd> open_probe_file(const std::string& folder, int flags) {
  UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | flags, S_IRUSR | S_IWUSR));
  if (!fd.is_open() && (errno == EOPNOTSUPP || errno == EISDIR)) fd.reset(open_named(folder, flags));
  if (!fd.is_open()) return folder_error("a file in " + folder, folder, errno);
  return fd;
}

Result<bool> is_in_page_cache(int fd, std::uint64_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return Status::from_errno("mmap of the probe's file", errno);
  std::vector<unsigned char> pages(round_up(bytes, kPageBytes) / kPageBytes);
  const int result = ::mincore(memory, bytes, pages.data());
  const int error = errno;
  ::munmap(memory, bytes);
  if (result != 0) return Status::from_errno("mincore of the probe's file", error);
  return std::any_of(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1U) != 0; });
}

std::string file_system_name(int fd) {
  struct statfs facts {};
  if (::fstatfs(fd, &facts) != 0) return "unknown";
  const auto type = static_cast<unsigned long>(facts.f_type);
  for (const auto& [magic, name] : kFileSystems) {
    if (magic == type) return name;
  }
  std::array<char, 24> text{};
  (void)std::snprintf(text.data(), text.size(), "0x%lx", type);
  return text.data();
}

}  // namespace kvtier
