#pragma once
// Mapping what the daemon sent: a sealed memfd of exactly the announced length, or a failure.

#include <cstdint>

#include "libkvclient/base/result.h"
#include "libkvclient/wire/shm_segment.h"

namespace kvtier::client {

/// The mapping is not inherited by a fork and not part of a core dump.
Result<ShmMapping> map_verified(int fd, std::uint64_t bytes, ShmAccess access);

}  // namespace kvtier::client
