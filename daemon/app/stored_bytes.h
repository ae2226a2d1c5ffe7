#pragma once

#include <cstdint>
#include <vector>

#include "daemon/model/fd_store.h"

namespace kvtier {

/// Bytes of memory behind the memfds among them.
std::uint64_t stored_bytes(const std::vector<StoredFd>& fds);

}  // namespace kvtier
