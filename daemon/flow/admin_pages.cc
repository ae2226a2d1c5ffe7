// kvctl ls and kvctl inspect: pages of blocks.

#include "daemon/flow/admin_find.h"
#include "daemon/flow/store_admin.h"

namespace kvtier {
namespace {

constexpr std::int64_t kLooksPerPage = 16384;

// A row walks up to its root and along its children.
void add_row(StoreState& state, BlockId id, Page<BlockView>& page, std::int64_t& budget) {
  page.rows.push_back(admin_block_view(state, id, true));
  budget -= std::int64_t{page.rows.back().depth} + page.rows.back().children;
}

}  // namespace

Page<BlockView> admin_blocks(StoreState& state, const BlockFilter& filter, std::uint64_t cursor,
                             std::uint32_t limit) {
  Page<BlockView> page;
  std::int64_t budget = kLooksPerPage;
  for (; cursor < state.blocks.limit() && budget > 0 && page.rows.size() < limit; ++cursor) {
    --budget;
    const BlockId id{static_cast<std::uint32_t>(cursor)};
    if (admin_matches(state, filter, state.blocks[id])) add_row(state, id, page, budget);
  }
  if (cursor < state.blocks.limit()) page.next = cursor;
  return page;
}

Page<BlockView> admin_inspect(StoreState& state, std::string_view prefix_hex, std::uint64_t cursor,
                              std::uint32_t limit) {
  const KeyPrefix prefix(prefix_hex);
  Page<BlockView> page;
  std::int64_t budget = kLooksPerPage;
  while (page.rows.size() < limit) {
    const BlockId found = admin_find_next(state, prefix, cursor, budget);
    if (found == BlockId::kNone) break;
    add_row(state, found, page, budget);
  }
  if (!admin_find_is_over(state, prefix, cursor)) page.next = cursor;
  return page;
}

}  // namespace kvtier
