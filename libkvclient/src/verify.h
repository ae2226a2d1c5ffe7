#pragma once
// KVC_VERIFY: what was leased is held against the daemon's checksums. A round trip; every byte is read.

#include "libkvclient/src/handles.h"

namespace kvtier::client {

/// What kvc_acquire was asked for.
struct AcquireCall {
  std::span<const Key> keys;
  std::uint32_t flags = 0;
};

/// Lets go of all entries of the lease, which holds some, that are not right, by the rules of the call's flags; tells the
/// daemon of those that are wrong. Ok also then; the text of the first is that of kvc_last_error. kUnavailable, kUnsupported:
/// nothing is held. kDeadline: the daemon has not answered; what was right before is held.
Status verify(Space& space, const AcquireCall& call, kvc_lease& lease);

}  // namespace kvtier::client
