#include "daemon/app/stored_bytes.h"

#include <sys/stat.h>

namespace kvtier {

std::uint64_t stored_bytes(const std::vector<StoredFd>& fds) {
  constexpr std::uint64_t kStatBlockBytes = 512;
  std::uint64_t bytes = 0;
  for (const StoredFd& each : fds) {
    struct stat info {};
    if (::fstat(each.fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    bytes += static_cast<std::uint64_t>(info.st_blocks) * kStatBlockBytes;
  }
  return bytes;
}

}  // namespace kvtier
