#pragma once
// Who keeps one block where it is. Reads only.

#include "daemon/flow/state.h"

namespace kvtier {

/// Who keeps a block where it is.
struct Holder {
  Cause cause =
      Cause::kNone;  ///< kPinnedBy, kWriterBusy, kTierFull: one of the daemon's own agents; kNone: nobody
  Session* session = nullptr;    ///< null: pins of a client that closed, or one of our own
  std::uint32_t closed_pid = 0;  ///< of that client
};
Holder holder_of(StoreState& state, BlockId id);

}  // namespace kvtier
