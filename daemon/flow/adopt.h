#pragma once
// Warm restart (DESIGN 3): taking over the memory of an earlier instance, all or nothing. What it left is
// input: every record is judged, and a block is visible again only once its bytes match their checksum.

#include <map>
#include <string>

#include "daemon/flow/state.h"

namespace kvtier {

using StoredFds = std::map<std::string, UniqueFd>;

/// How an adoption ended. Not ok: the state is unusable.
struct Adoption {
  Status status;  ///< why not
  bool is_refused =
      false;  ///< what was left is good, but this start may not have it: it is not to be dropped
};

/// Fills an empty state from the descriptors.
Adoption adopt_all(StoreState& state, const HostMemoryOptions& memory, const RestartSizes& sizes,
                   std::uint32_t blocks_max, StoredFds fds);

/// The verdict on one adopted block: published, or dropped.
void adopt_verified(StoreState& state, BlockId id, bool is_right);

}  // namespace kvtier
