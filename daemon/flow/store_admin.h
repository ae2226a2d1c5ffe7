#pragma once

#include <memory>

#include "daemon/flow/admin.h"
#include "daemon/flow/state.h"

namespace kvtier {

std::unique_ptr<StoreAdmin> make_store_admin(StoreState& state);

// The parts of it, a file each.
BlockView admin_block_view(StoreState& state, BlockId id, bool count_leases);
Page<BlockView> admin_blocks(StoreState& state, const BlockFilter& filter, std::uint64_t cursor,
                             std::uint32_t limit);
Page<BlockView> admin_inspect(StoreState& state, std::string_view prefix_hex, std::uint64_t cursor,
                              std::uint32_t limit);
TreePage admin_tree(StoreState& state, const BlockFilter& filter, const TreeCursor& cursor,
                    std::uint32_t limit);
EvictReport admin_evict(StoreState& state, const EvictTarget& target, const EvictCursor& from,
                        std::uint32_t work_max);
std::vector<ClientView> admin_clients(StoreState& state);
/// To each row what its client pinned; a row more for each that is closed and whose pins stay.
void admin_add_pins(StoreState& state, std::vector<ClientView>& rows);
std::vector<std::string> admin_complaints(StoreState& state);
Result<SyncView> admin_sync(StoreState& state, const BlockFilter& filter, std::uint64_t number);
Status admin_kick(StoreState& state, const KickTarget& target);
bool admin_matches(StoreState& state, const BlockFilter& filter, const BlockRecord& record);

inline BlockMark admin_mark(const StoreState& state, BlockId id) {
  if (id == BlockId::kNone) return {};
  // A cold block has no slot: its key tells it from the next one with this record.
  const BlockRecord& record = state.blocks[id];
  if (record.state == BlockState::kCold) return {id, {~0U}, record.key.words[0] & kGenerationMax};
  return {id, state.blocks[id].slot, state.blocks[id].generation};
}
/// Whether the block is there still, as it was. Marks come from administrators too.
inline bool admin_is_there(const StoreState& state, const BlockMark& mark) {
  return state.blocks.is_valid(index_of(mark.id)) && state.blocks[mark.id].state != BlockState::kFree &&
         admin_mark(state, mark.id) == mark;
}

}  // namespace kvtier
