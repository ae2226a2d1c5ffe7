// kvctl tree: one page of a depth-first walk over the block table.

#include "daemon/flow/store_admin.h"

namespace kvtier {
namespace {

// Records that a page looks at, and how far one node may go beyond that: about a millisecond each.
constexpr std::int64_t kLooksPerPage = 16384;
constexpr std::uint32_t kChainMax = 16384;     // a longer chain is several nodes of one level
constexpr std::uint32_t kBranchesMax = 16384;  // more are not counted

class TreeWalk {
 public:
  TreeWalk(StoreState& state, const BlockFilter& filter, const TreeCursor& from)
      : state_(state), filter_(filter), cursor_(from), at_(from.at.id) {
    if (at_ != BlockId::kNone && !admin_is_there(state, from.at)) at_ = BlockId::kNone;
  }

  TreePage page(std::uint32_t limit) {
    while (budget_ > 0 && page_.rows.size() < limit && !is_over()) {
      if (at_ == BlockId::kNone) {
        find_root();
      } else if (cursor_.is_climbing) {
        climb();
      } else {
        list();
      }
    }
    cursor_.at = admin_mark(state_, at_);
    if (!is_over()) page_.next = cursor_;
    return std::move(page_);
  }

 private:
  [[nodiscard]] bool is_over() const {
    return at_ == BlockId::kNone && cursor_.record >= state_.blocks.limit();
  }

  void find_root() {
    --budget_;
    const BlockId id{static_cast<std::uint32_t>(cursor_.record++)};
    const BlockRecord& record = state_.blocks[id];
    const bool is_visible = record.state == BlockState::kReady || record.state == BlockState::kWriting ||
                            record.state == BlockState::kCold || record.state == BlockState::kRestoring;
    if (!is_visible || record.parent != BlockId::kNone || !admin_matches(state_, filter_, record)) return;
    at_ = id;
    cursor_.depth = cursor_.level = 0;
    cursor_.is_climbing = false;
  }

  // One step towards the root, or to the next branch of the parent.
  void climb() {
    --budget_;
    const BlockRecord& record = state_.blocks[at_];
    if (record.next_sibling != BlockId::kNone) {
      at_ = record.next_sibling;
      cursor_.is_climbing = false;
      return;
    }
    const bool was_branch = record.prev_sibling != at_;  // not an only child
    at_ = record.parent;
    if (cursor_.depth > 0) --cursor_.depth;
    if (was_branch && cursor_.level > 0) --cursor_.level;
  }

  // The node that begins at at_, down to the next branch or leaf.
  void list() {
    TreeNode node;
    node.first = state_.blocks[at_].key;
    node.depth = cursor_.depth;
    node.level = cursor_.level;
    const BlockRecord& first = state_.blocks[at_];
    const bool is_writing = first.writer != kNoWriter;  // nobody could access it yet
    node.age_ms = is_writing ? 0 : static_cast<std::uint32_t>(state_.now() / kNsPerMs) - first.access_ms;
    while (true) {
      const BlockRecord& record = state_.blocks[at_];
      ++node.blocks;
      node.hits += record.hits;
      node.pinned += (record.flags & kBlockPinned) != 0 ? 1 : 0;
      if (!is_only_child(record.first_child) || node.blocks == kChainMax) break;
      at_ = record.first_child;
    }
    node.last = state_.blocks[at_].key;
    budget_ -= node.blocks;
    cursor_.depth += node.blocks - 1;
    descend(node);
    page_.rows.push_back(node);
  }

  void descend(TreeNode& node) {
    const BlockId child = state_.blocks[at_].first_child;
    if (child == BlockId::kNone) {
      cursor_.is_climbing = true;
      return;
    }
    if (!is_only_child(child)) {
      node.branches = state_.tree->children(at_, kBranchesMax);
      budget_ -= node.branches;
      ++cursor_.level;
    }
    at_ = child;
    ++cursor_.depth;
  }

  [[nodiscard]] bool is_only_child(BlockId child) const {  // of a first child
    return child != BlockId::kNone && state_.blocks[child].next_sibling == BlockId::kNone;
  }

  StoreState& state_;
  const BlockFilter& filter_;
  TreeCursor cursor_;
  BlockId at_;
  std::int64_t budget_ = kLooksPerPage;
  TreePage page_;
};

}  // namespace

TreePage admin_tree(StoreState& state, const BlockFilter& filter, const TreeCursor& cursor,
                    std::uint32_t limit) {
  return TreeWalk(state, filter, cursor).page(limit);
}

}  // namespace kvtier
