// The prefix tree against a plain parent map over random operations: links agree, cycles are refused, walks
// stop at their bounds.

#include "daemon/policy/prefix_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "libkvclient/base/prng.h"

namespace kvtier {
namespace {

class PrefixTreeTest : public ::testing::Test {
 protected:
  PrefixTreeTest() : tree_(blocks_) {
    for (int i = 0; i < 64; ++i) ids_.push_back(blocks_.allocate());
  }

  static BlockTable make_table() {
    NoFdStore fds;
    Result<BlockTable> table = BlockTable::create(256, fds);
    EXPECT_TRUE(table.is_ok());
    EXPECT_TRUE(table.value().reserve(256).is_ok());
    return std::move(table).value();
  }

  void expect_agrees(const std::map<BlockId, BlockId>& parents) {
    std::map<BlockId, std::set<BlockId>> children;
    for (const auto& [child, parent] : parents) children[parent].insert(child);
    for (const BlockId id : ids_) {
      const auto found = parents.find(id);
      ASSERT_EQ(blocks_[id].parent, found == parents.end() ? BlockId::kNone : found->second);
      std::set<BlockId> listed;
      BlockId before = BlockId::kNone;  // of the first child prev_sibling is the last one
      for (BlockId child = blocks_[id].first_child; child != BlockId::kNone;
           child = blocks_[child].next_sibling) {
        ASSERT_TRUE(before == BlockId::kNone || blocks_[child].prev_sibling == before);
        ASSERT_TRUE(listed.insert(child).second) << "a sibling list that comes back to itself";
        before = child;
      }
      ASSERT_TRUE(before == BlockId::kNone || blocks_[blocks_[id].first_child].prev_sibling == before);
      ASSERT_EQ(listed, children[id]);
      ASSERT_EQ(tree_.has_children(id), !listed.empty());
      ASSERT_EQ(tree_.children(id, 1000), listed.size());
    }
  }

  BlockTable blocks_ = make_table();
  PrefixTree tree_;
  std::vector<BlockId> ids_;
};

bool closes_cycle(const std::map<BlockId, BlockId>& parents, BlockId child, BlockId parent) {
  for (BlockId up = parent;;) {
    if (up == child) return true;
    const auto found = parents.find(up);
    if (found == parents.end()) return false;
    up = found->second;
  }
}

TEST_F(PrefixTreeTest, AgreesWithAPlainMapOverARandomLifeAndRefusesCycles) {
  Prng chance(3);
  std::map<BlockId, BlockId> parents;
  std::uint64_t refused = 0;
  for (int step = 0; step < 20000; ++step) {
    const BlockId a = ids_[chance.below(ids_.size())];
    const BlockId b = ids_[chance.below(ids_.size())];
    if (chance.below(3) != 0 && !parents.contains(a)) {
      const bool is_cycle = closes_cycle(parents, a, b);
      ASSERT_EQ(tree_.attach(a, b), !is_cycle);
      if (is_cycle) ++refused;
      if (!is_cycle) parents[a] = b;
    } else {
      tree_.detach(a);
      parents.erase(a);
      std::erase_if(parents, [a](const auto& link) { return link.second == a; });
    }
    if (step % 50 == 0) expect_agrees(parents);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(refused, 100U) << "the run must have met cycles";
}

TEST_F(PrefixTreeTest, ABlockIsNotItsOwnParent) {
  EXPECT_FALSE(tree_.attach(ids_[0], ids_[0]));
  EXPECT_EQ(blocks_[ids_[0]].parent, BlockId::kNone);
}

TEST_F(PrefixTreeTest, TheCycleCheckIsBoundedAndThenSaysNo) {
  for (std::size_t i = 1; i < 20; ++i) ASSERT_TRUE(tree_.attach(ids_[i], ids_[i - 1]));
  ASSERT_TRUE(tree_.attach(ids_[31], ids_[30]));
  EXPECT_FALSE(tree_.attach(ids_[30], ids_[19], 5)) << "not known within five steps: refused";
  EXPECT_TRUE(tree_.attach(ids_[30], ids_[19], 64));
  EXPECT_TRUE(tree_.attach(ids_[40], ids_[19], 0)) << "a childless block closes no cycle";
}

TEST_F(PrefixTreeTest, LeafFirstWhileABatchIsGathered) {
  ASSERT_TRUE(tree_.attach(ids_[1], ids_[0]));
  ASSERT_TRUE(tree_.attach(ids_[2], ids_[0]));
  for (int i = 0; i < 3; ++i) blocks_.set_state(ids_[static_cast<std::size_t>(i)], BlockState::kReady);
  EXPECT_FALSE(tree_.has_only_leaving_children(ids_[0]));
  blocks_.set_state(ids_[1], BlockState::kEvicting);
  EXPECT_FALSE(tree_.has_only_leaving_children(ids_[0]));
  blocks_.set_state(ids_[2], BlockState::kEvicting);
  EXPECT_TRUE(tree_.has_only_leaving_children(ids_[0]));
  EXPECT_TRUE(tree_.has_only_leaving_children(ids_[5])) << "a leaf";
}

// A block with a hundred thousand children on disk is looked at in one step.
TEST_F(PrefixTreeTest, ColdChildrenStandBehindThoseInMemoryThroughARandomLife) {
  Prng chance(5);
  const BlockId root = ids_[0];
  std::map<BlockId, bool> is_cold;
  for (int step = 0; step < 5000; ++step) {
    const BlockId child = ids_[1 + chance.below(ids_.size() - 1)];
    if (!is_cold.contains(child)) {
      blocks_.adopt_state(child, chance.below(2) == 0 ? BlockState::kReady : BlockState::kCold);
      ASSERT_TRUE(tree_.attach(child, root));
      is_cold[child] = blocks_[child].state == BlockState::kCold;
    } else if (chance.below(3) == 0) {
      tree_.detach(child);
      is_cold.erase(child);
    } else {
      is_cold[child] = !is_cold[child];
      blocks_.adopt_state(child, is_cold[child] ? BlockState::kCold : BlockState::kReady);
      tree_.settle(child);
    }
    std::size_t in_memory = 0;
    for (BlockId at = tree_.first_host_child(root); at != BlockId::kNone; at = tree_.next_host_sibling(at)) {
      ASSERT_FALSE(is_cold.at(at));
      ++in_memory;
    }
    const auto warm =
        std::count_if(is_cold.begin(), is_cold.end(), [](const auto& each) { return !each.second; });
    ASSERT_EQ(in_memory, static_cast<std::size_t>(warm));
    ASSERT_EQ(tree_.children(root, 1000), is_cold.size());
    ASSERT_EQ(tree_.has_only_leaving_children(root), warm == 0);
  }
}

TEST_F(PrefixTreeTest, ChildrenMoveToAnotherParentAsTheyAre) {
  for (std::size_t i = 1; i < 10; ++i) ASSERT_TRUE(tree_.attach(ids_[i], ids_[0]));
  tree_.move_children(ids_[0], ids_[20]);
  EXPECT_FALSE(tree_.has_children(ids_[0]));
  EXPECT_EQ(tree_.children(ids_[20], 1000), 9U);
  for (std::size_t i = 1; i < 10; ++i) EXPECT_EQ(blocks_[ids_[i]].parent, ids_[20]);
}

TEST_F(PrefixTreeTest, WalksStopAtTheirBounds) {
  for (std::size_t i = 1; i < 20; ++i) ASSERT_TRUE(tree_.attach(ids_[i], ids_[i - 1]));
  for (std::size_t i = 20; i < 30; ++i) ASSERT_TRUE(tree_.attach(ids_[i], ids_[0]));
  EXPECT_EQ(tree_.depth(ids_[19], 1000), 19U);
  EXPECT_EQ(tree_.depth(ids_[19], 7), 7U);
  EXPECT_EQ(tree_.children(ids_[0], 1000), 11U);
  EXPECT_EQ(tree_.children(ids_[0], 3), 3U);
}

}  // namespace
}  // namespace kvtier
