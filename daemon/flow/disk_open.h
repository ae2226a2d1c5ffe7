#pragma once
// What the NVMe tier is told before it is asked for anything: slabs, spaces, and that it may open.

#include "daemon/flow/state.h"

namespace kvtier {

/// The tier's part of the state, with all of its memory. kNoSpace: there is not so much.
Status disk_create(StoreState& state, std::uint32_t blocks_max);

/// A space of before, from the tier's catalog: known again, under these ids, before any client registers it.
Result<SpaceIds> disk_space(StoreState& state, std::string_view namespace_name,
                            std::span<const std::byte> encoding);
/// A space was registered, or adopted: the tier hears of it before all else of it.
void disk_describe(StoreState& state, const Tenant& tenant, Space& space);

/// Tells slabs and spaces that it does not know yet, then, if that is wanted, that it may open; as far as there is room.
std::size_t disk_tell_step(StoreState& state);

/// A slab's memory is about to go. False: the tier was asked to let go of it, or holds it still; `rebalance` is called when
/// it has.
bool disk_lets_go(StoreState& state, const Slab& slab);
/// A slab has new memory.
void disk_slab_made(StoreState& state, const Slab& slab);
void disk_on_slab_removed(StoreState& state, SlabIndex slab);

}  // namespace kvtier
