// kvctl tree and kvctl evict: bounded walks over the block table.

#include <algorithm>

#include "daemon/flow/evict.h"
#include "daemon/flow/store_admin.h"

namespace kvtier {
namespace {

constexpr std::uint32_t kRecordsPerStep = 16384;
constexpr std::uint32_t kNodesMax = 1U << 16;

struct Frame {
  BlockId block;
  std::uint32_t depth;
  std::uint32_t level;
};

// One folded node from `frame` down to the next branch or leaf; its children are pushed for later.
TreeNode fold(StoreState& state, const Frame& frame, std::vector<Frame>& stack) {
  const BlockTable& blocks = state.blocks;
  TreeNode node;
  node.first = blocks[frame.block].key;
  node.depth = frame.depth;
  node.level = frame.level;
  node.age_ms = static_cast<std::uint32_t>(state.now() / kNsPerMs) - blocks[frame.block].access_ms;
  BlockId at = frame.block;
  while (true) {
    ++node.blocks;
    if (blocks[at].writer == kNoWriter) node.hits += blocks[at].hits;
    const BlockId child = blocks[at].first_child;
    if (child == BlockId::kNone || blocks[child].next_sibling != BlockId::kNone || node.blocks >= kNodesMax)
      break;
    at = child;
  }
  node.last = blocks[at].key;
  for (BlockId child = blocks[at].first_child; child != BlockId::kNone; child = blocks[child].next_sibling) {
    stack.push_back({child, frame.depth + node.blocks, frame.level + 1});
    ++node.branches;
  }
  return node;
}

bool is_root(StoreState& state, const BlockFilter& filter, const BlockRecord& record) {
  return admin_matches(state, filter, record) && record.parent == BlockId::kNone &&
         (record.state == BlockState::kReady || record.state == BlockState::kWriting);
}

}  // namespace

Page<TreeNode> admin_tree(StoreState& state, std::string_view namespace_name, SpaceId space,
                          std::uint64_t cursor, std::uint32_t limit) {
  const BlockFilter filter{std::string(namespace_name), space};
  Page<TreeNode> page;
  const std::uint64_t end = std::min<std::uint64_t>(state.blocks.limit(), cursor + kRecordsPerStep);
  std::vector<Frame> stack;
  for (; cursor < end && page.rows.size() < limit; ++cursor) {
    const BlockId root{static_cast<std::uint32_t>(cursor)};
    if (!is_root(state, filter, state.blocks[root])) continue;
    stack.push_back({root, 0, 0});
    while (!stack.empty() && page.rows.size() < kNodesMax) {
      const Frame frame = stack.back();
      stack.pop_back();
      page.rows.push_back(fold(state, frame, stack));
    }
    stack.clear();
  }
  if (cursor < state.blocks.limit()) page.next = cursor;
  return page;
}

EvictReport admin_evict_one(StoreState& state, BlockId id) {
  EvictReport report;
  const BlockRecord& record = state.blocks[id];
  if (record.state == BlockState::kWriting) {
    ++report.kept_writing;
    return report;
  }
  // Descendants first: what is kept below keeps what is above it.
  for (BlockId child = record.first_child; child != BlockId::kNone;) {
    const BlockId next = state.blocks[child].next_sibling;
    const EvictReport below = admin_evict_one(state, child);
    report.evicted += below.evicted;
    report.kept_leased += below.kept_leased;
    report.kept_pinned += below.kept_pinned;
    report.kept_writing += below.kept_writing;
    child = next;
  }
  const bool is_pinned = (record.flags & kBlockPinned) != 0;
  const Code code = evict_begin(state, id);
  if (code == Code::kOk) {
    evict_finish(state, id);
    ++report.evicted;
    ++state.stats.evictions_requested;
  } else if (code == Code::kBusy) {
    ++(is_pinned ? report.kept_pinned : report.kept_leased);
  }
  return report;
}

EvictReport admin_evict(StoreState& state, const BlockFilter& filter, std::uint64_t cursor,
                        std::uint32_t limit) {
  EvictReport report;
  const std::uint64_t end = std::min<std::uint64_t>(state.blocks.limit(), cursor + limit);
  for (; cursor < end; ++cursor) {
    const BlockId id{static_cast<std::uint32_t>(cursor)};
    const BlockRecord& record = state.blocks[id];
    if (!admin_matches(state, filter, record) || record.parent != BlockId::kNone) continue;
    const EvictReport one = admin_evict_one(state, id);
    report.evicted += one.evicted;
    report.kept_leased += one.kept_leased;
    report.kept_pinned += one.kept_pinned;
    report.kept_writing += one.kept_writing;
  }
  if (cursor < state.blocks.limit()) report.next = cursor;
  return report;
}

}  // namespace kvtier
