#pragma once

#include <memory>

#include "daemon/flow/admin.h"
#include "daemon/flow/state.h"

namespace kvtier {

std::unique_ptr<StoreAdmin> make_store_admin(StoreState& state);

// The parts of it, a file each.
BlockView admin_block_view(StoreState& state, BlockId id, bool count_leases);
Page<TreeNode> admin_tree(StoreState& state, std::string_view namespace_name, SpaceId space,
                          std::uint64_t cursor, std::uint32_t limit);
EvictReport admin_evict(StoreState& state, const BlockFilter& filter, std::uint64_t cursor,
                        std::uint32_t limit);
EvictReport admin_evict_one(StoreState& state, BlockId id);
std::vector<ClientView> admin_clients(StoreState& state, bool count_leases);
/// Ids of blocks whose key begins with the digits; at most `limit`.
std::vector<BlockId> admin_find(StoreState& state, std::string_view prefix_hex, std::uint32_t limit);
bool admin_matches(StoreState& state, const BlockFilter& filter, const BlockRecord& record);

}  // namespace kvtier
