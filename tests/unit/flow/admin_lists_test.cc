// kvctl ls, tree and inspect (F-03): pages are bounded, and together they show everything once.

#include <functional>
#include <map>

#include "daemon/flow/admin.h"
#include "daemon/flow/state.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

bool operator==(const TreeNode& a, const TreeNode& b) {
  return a.first == b.first && a.last == b.last && a.blocks == b.blocks && a.depth == b.depth &&
         a.level == b.level && a.branches == b.branches;
}

class AdminLists : public StoreFixture {
 protected:
  void set_up(std::uint64_t slots) {
    StoreOptions options;
    options.slab_bytes = 64 * kBlock;  // a descriptor or two a slab
    make_store(slots, options);
    client_ = &add_client();
    space_ = usual_space(*client_);
  }
  void put_below(const Key& parent, const std::vector<Key>& keys) {
    commit(*client_, reserve(*client_, space_, keys, true, parent));
  }
  std::vector<TreeNode> tree(
      std::uint32_t limit, const std::function<void()>& between = [] {}) {
    std::vector<TreeNode> rows;
    TreeCursor from;
    while (true) {
      TreePage page = store_->admin().tree({"main", space_}, from, limit);
      EXPECT_LE(page.rows.size(), limit);
      rows.insert(rows.end(), page.rows.begin(), page.rows.end());
      if (!page.next) return rows;
      from = *page.next;
      between();
    }
  }
  std::vector<BlockView> inspect(const std::string& prefix, std::uint32_t limit = 100) {
    std::vector<BlockView> rows;
    std::optional<std::uint64_t> from = 0;
    while (from) {
      const Page<BlockView> page = store_->admin().inspect(prefix, *from, limit);
      EXPECT_LE(page.rows.size(), limit);
      rows.insert(rows.end(), page.rows.begin(), page.rows.end());
      from = page.next;
    }
    return rows;
  }
  // Blocks under random earlier ones.
  void put_forest(std::uint64_t blocks) {
    Prng chance(5);
    for (std::uint64_t i = 0; i < blocks; ++i) {
      const bool is_root = i == 0 || chance.below(20) == 0;
      // Mostly the newest block, so that there are chains to fold.
      const std::uint64_t parent = chance.below(3) == 0 || i == 0 ? chance.below(i + 1) : i - 1;
      put_below(is_root || parent == i ? Key{} : pattern_key(1, parent), {pattern_key(1, i)});
    }
  }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

TEST_F(AdminLists, F_03_pages_of_any_size_show_the_same_forest) {
  set_up(1024);
  put_forest(1000);
  const std::vector<TreeNode> whole = tree(1000);
  std::uint64_t blocks = 0;
  std::map<std::uint32_t, std::uint64_t> branches_open;  // children still to come, by level
  for (const TreeNode& node : whole) {
    blocks += node.blocks;
    if (node.level > 0) {
      ASSERT_GT(branches_open[node.level - 1], 0U);
      --branches_open[node.level - 1];
    }
    EXPECT_EQ(branches_open[node.level], 0U);
    branches_open[node.level] = node.branches;
    const std::vector<BlockView> first = inspect(to_hex(node.first));
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(first[0].depth, node.depth);
  }
  EXPECT_EQ(blocks, 1000U);
  for (const std::uint32_t limit : {1U, 7U, 64U}) {
    const std::vector<TreeNode> paged = tree(limit);
    ASSERT_EQ(paged.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_TRUE(paged[i] == whole[i]) << i;
  }
}

TEST_F(AdminLists, F_03_one_root_with_many_children_is_many_pages) {
  set_up(4096);
  put_below({}, {pattern_key(1, 0)});
  for (std::uint64_t i = 0; i < 3000; ++i) put_below(pattern_key(1, 0), {pattern_key(2, i)});
  const std::vector<TreeNode> rows = tree(100);
  ASSERT_EQ(rows.size(), 3001U);
  EXPECT_EQ(rows[0].branches, 3000U);
}

TEST_F(AdminLists, F_03_a_chain_beyond_a_pages_work_is_several_nodes_of_one_level) {
  set_up(20'032);
  put_chain(*client_, space_, keys_of(1, 20'000));
  const std::vector<TreeNode> rows = tree(1000);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].blocks + rows[1].blocks, 20'000U);
  EXPECT_EQ(rows[1].depth, rows[0].blocks);
  EXPECT_EQ(rows[1].level, 0U);
}

TEST_F(AdminLists, F_03_a_tree_that_changes_between_two_pages_ends) {
  set_up(1024);
  put_forest(500);
  const std::vector<TreeNode> rows = tree(3, [&] { put(*client_, space_, keys_of(1000 + next_pid_++, 8)); });
  EXPECT_FALSE(rows.empty());
}

TEST_F(AdminLists, F_03_any_cursor_ends) {
  set_up(256);
  put_forest(200);
  Prng chance(9);
  for (int i = 0; i < 2000; ++i) {
    const BlockId id{static_cast<std::uint32_t>(chance.below(300))};
    TreeCursor from{.record = chance.below(2) == 0 ? chance.below(300) : chance.next()};
    from.at.id = id;
    const bool is_there = index_of(id) < store_->state().blocks.limit() && chance.below(4) != 0;
    if (is_there) from.at = {id, store_->state().blocks[id].slot, store_->state().blocks[id].generation};
    from.depth = static_cast<std::uint32_t>(chance.next());
    from.level = static_cast<std::uint32_t>(chance.below(3));
    from.is_climbing = chance.below(2) == 0;
    int pages = 0;
    for (std::optional<TreeCursor> next = from; next; ++pages)
      next = store_->admin().tree({}, *next, 50).next;
    EXPECT_LE(pages, 10);
  }
}

TEST_F(AdminLists, F_03_inspect_finds_by_key_and_by_any_beginning) {
  set_up(64);
  put(*client_, space_, keys_of(1, 8));
  const SpaceId second = client_->register_space(encoded_spec("other", kBlock));
  put(*client_, second, keys_of(1, 2));
  for (std::uint64_t i = 0; i < 8; ++i) {
    const std::string hex = to_hex(pattern_key(1, i));
    EXPECT_EQ(inspect(hex).size(), i < 2 ? 2U : 1U);
    for (std::size_t digits = 9; digits < 64; digits += 7) {
      const std::vector<BlockView> found = inspect(hex.substr(0, digits), 1);
      ASSERT_EQ(found.size(), i < 2 ? 2U : 1U) << digits;
      EXPECT_EQ(found[0].key, pattern_key(1, i));
    }
    std::string other = hex;
    other[12] = other[12] == '0' ? '1' : '0';
    EXPECT_TRUE(inspect(other).empty());
    EXPECT_TRUE(inspect(other.substr(0, 13)).empty());
    EXPECT_EQ(inspect(other.substr(0, 12)).size(), i < 2 ? 2U : 1U);
  }
  for (const char* none : {"", "abc", "xyzw"}) EXPECT_TRUE(inspect(none).empty());
}

TEST_F(AdminLists, F_03_a_beginning_finds_blocks_that_only_their_leases_keep) {
  set_up(64);
  put(*client_, space_, keys_of(1, 1));
  std::optional<SimLease> held = client_->acquire(space_, pattern_key(1, 0));
  ASSERT_TRUE(held.has_value());
  (void)call(*client_, Op::kInvalidate, space_, {});
  const std::string hex = to_hex(pattern_key(1, 0));
  EXPECT_TRUE(inspect(hex).empty());
  const std::vector<BlockView> found = inspect(hex.substr(0, 63));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].state, "draining");
  EXPECT_EQ(found[0].leases, 1U);
  SimClient::release(*held);
}

TEST_F(AdminLists, F_03_rows_deep_in_a_chain_make_small_pages) {
  set_up(8192);
  put_chain(*client_, space_, keys_of(1, 8000));
  std::optional<std::uint64_t> from = 0;
  std::size_t rows = 0;
  while (from) {
    const Page<BlockView> page = store_->admin().blocks({}, *from, 1000);
    std::uint64_t hops = 0;
    for (const BlockView& row : page.rows) hops += row.depth + row.children;
    EXPECT_LE(hops, 16384U + 8000U) << "a page's work is bounded, not only its rows";
    rows += page.rows.size();
    from = page.next;
  }
  EXPECT_EQ(rows, 8000U);
}

}  // namespace
}  // namespace kvtier::test
