#pragma once
// Looks at the directory: no lease, no message, no lock.

#include <cstdint>
#include <span>

#include "libkvclient/src/space.h"
#include "libkvclient/wire/directory_trail.h"

namespace kvtier::client {

/// What this thread matched last; kvc_acquire of the same keys goes along it.
inline thread_local DirectoryTrail last_match;

/// kvc_match, which is counted. `states` may be null; `ready` is set only where it returns KVC_OK.
int match(Space& space, std::span<const Key> keys, std::uint8_t* states, std::size_t& ready);

/// The state of each key, for another verb: not counted. False: not connected.
bool find_states(const Space& space, std::span<const Key> keys, std::uint8_t* states);

}  // namespace kvtier::client
