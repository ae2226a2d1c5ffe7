#pragma once
// Identifiers inside the daemon. Index types: an array position each, never mixed up by accident.

#include <cstdint>

namespace kvtier {

/// A record of the block table. Stable while the block lives; reused afterwards.
enum class BlockId : std::uint32_t { kNone = 0xffffffff };
/// A namespace, in order of opening.
enum class NamespaceId : std::uint32_t { kNone = 0xffffffff };
/// A place in the session table; SessionKey adds what tells two sessions in one place apart.
enum class SessionIndex : std::uint32_t { kNone = 0xffffffff };
/// A slab of the host tier: the `slab()` of a SlotRef.
enum class SlabIndex : std::uint32_t { kNone = 0xffffffff };

template <class Id>
constexpr std::uint32_t index_of(Id id) {
  return static_cast<std::uint32_t>(id);
}

}  // namespace kvtier
