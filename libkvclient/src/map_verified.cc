#include "libkvclient/src/map_verified.h"

namespace kvtier::client {

Result<ShmMapping> map_verified(int fd, std::uint64_t bytes, ShmAccess access) {
  const Result<std::uint64_t> verified = shm_verify(fd, bytes);
  if (!verified.is_ok()) return verified.status();
  Result<ShmMapping> mapping = ShmMapping::map(fd, bytes, access);
  if (!mapping.is_ok()) return mapping;
  KV_RETURN_IF_ERROR(mapping.value().exclude_from_fork_and_dump());
  return mapping;
}

}  // namespace kvtier::client
