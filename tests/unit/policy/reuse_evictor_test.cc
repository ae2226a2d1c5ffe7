// The reuse evictor against a plain map of parents over random lives: who may leave is listed once, by rank, and nobody
// else; then what it is for.

#include "daemon/policy/reuse_evictor.h"

#include <deque>
#include <map>
#include <set>

#include "daemon/policy/prefix_tree.h"
#include "libkvclient/base/prng.h"
#include "tests/unit/policy/small_cache.h"

namespace kvtier {
namespace {

// Blocks with parents and times over an evictor, beside a plain model of who is there.
class Forest final : LeafListener {
 public:
  explicit Forest(std::uint32_t capacity)
      : blocks_(make_block_table(capacity)), tree_(blocks_, this), evictor_(blocks_, /*seed=*/7) {
    evictor_.set_capacity(capacity);
  }

  ReuseEvictor& evictor() { return evictor_; }
  [[nodiscard]] bool is_full() const { return blocks_.used() == blocks_.blocks_max(); }
  [[nodiscard]] const std::map<BlockId, BlockId>& parents() const { return parents_; }
  void pass_time(std::uint32_t ms) { now_ms_ += ms; }

  BlockId add(std::uint64_t key, BlockId parent) {
    const BlockId id = blocks_.allocate();
    blocks_[id].key.words[0] = key;
    blocks_[id].access_ms = now_ms_;
    if (parent != BlockId::kNone) (void)tree_.attach(id, parent);
    evictor_.insert(id, parent);
    parents_[id] = parent;
    return id;
  }
  void access(BlockId id) {
    blocks_[id].access_ms = now_ms_;
    evictor_.access(id);
  }
  void hint(BlockId id, UseHint hint) { evictor_.hint(id, hint, now_ms_); }
  void remove(BlockId id, bool is_for_room) {
    if (is_for_room) evictor_.remember(id);
    evictor_.remove(id);
    tree_.detach(id);
    blocks_.free(id);
    parents_.erase(id);
    for (auto& [child, parent] : parents_) {
      if (parent == id) parent = BlockId::kNone;
    }
  }
  [[nodiscard]] std::set<BlockId> leaves() const {
    std::set<BlockId> all;
    for (const auto& [id, parent] : parents_) all.insert(id);
    for (const auto& [id, parent] : parents_) all.erase(parent);
    return all;
  }
  BlockId any(Prng& chance) const {
    return std::next(parents_.begin(), static_cast<long>(chance.below(parents_.size())))->first;
  }

 private:
  void became_leaf(BlockId id) override { (void)evictor_.became_leaf(id, BlockId::kNone); }

  BlockTable blocks_;
  PrefixTree tree_;
  ReuseEvictor evictor_;
  std::map<BlockId, BlockId> parents_;
  std::uint32_t now_ms_ = 0xffff0000;  // wraps soon
};

std::set<BlockId> listed(ReuseEvictor& evictor) {
  const std::vector<BlockId> order = order_of(evictor);
  std::set<BlockId> all(order.begin(), order.end());
  EXPECT_EQ(all.size(), order.size()) << "one is listed twice";
  return all;
}

TEST(ReuseEvictor, ListsTheLeavesOnceWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Prng chance(seed);
    Forest forest(60);
    for (int step = 0; step < 4000; ++step) {
      forest.pass_time(static_cast<std::uint32_t>(chance.below(2000)));
      const std::uint64_t action = chance.below(9);
      const bool is_empty = forest.parents().empty();
      if (action < 3 && !forest.is_full()) {
        const BlockId parent = is_empty || chance.below(3) == 0 ? BlockId::kNone : forest.any(chance);
        (void)forest.add(1 + chance.below(300), parent);
      } else if (is_empty) {
        continue;
      } else if (action < 5) {
        forest.access(forest.any(chance));
      } else if (action == 8) {
        forest.hint(forest.any(chance), static_cast<UseHint>(1 + chance.below(kUseHints)));
      } else if (action == 5) {
        forest.evictor().defer(*forest.leaves().begin());
      } else if (action == 6) {
        forest.remove(forest.any(chance), chance.below(2) == 0);
      } else if (forest.is_full()) {
        forest.remove(forest.evictor().coldest(), true);
      }
      ASSERT_EQ(forest.evictor().size(), forest.parents().size());
      ASSERT_EQ(listed(forest.evictor()), forest.leaves()) << "seed " << seed << ", step " << step;
    }
  }
}

TEST(ReuseEvictor, TheEndOfAPromptLeavesFirst) {
  Forest forest(4);
  const BlockId head = forest.add(1, BlockId::kNone);
  const BlockId middle = forest.add(2, head);
  const BlockId end = forest.add(3, middle);
  for (const BlockId expected : {end, middle, head}) {
    EXPECT_EQ(order_of(forest.evictor()), std::vector{expected});
    forest.remove(expected, true);
  }
  EXPECT_EQ(forest.evictor().coldest(), BlockId::kNone);
}

TEST(ReuseEvictor, AnAgeLaterItIsColder) {
  Forest forest(4);
  const BlockId old = forest.add(1, BlockId::kNone);
  forest.pass_time(60'000);
  const BlockId young = forest.add(2, BlockId::kNone);
  EXPECT_EQ(order_of(forest.evictor()), (std::vector{old, young})) << "nothing is learned yet";
  forest.evictor().defer(old);
  EXPECT_EQ(order_of(forest.evictor()), (std::vector{young, old}));
  forest.evictor().released(old);
  forest.evictor().released(young);
  EXPECT_EQ(order_of(forest.evictor()), (std::vector{old, young}));
  forest.evictor().defer(old);
  forest.evictor().set_mark(young);
  forest.access(young);
  EXPECT_EQ(forest.evictor().mark(), old);
}

// Blocks whose session ended never come back, the others do, after the same time.
TEST(ReuseEvictor, LearnsWhatAHintIsWorth) {
  Forest forest(40);
  std::deque<BlockId> gone;
  std::vector<BlockId> kept;
  for (std::uint64_t key = 1; key <= 10; ++key) kept.push_back(forest.add(key, BlockId::kNone));
  for (std::uint64_t key = 100; key < 2000; ++key) {
    forest.pass_time(1000);
    for (const BlockId id : kept) forest.access(id);
    gone.push_back(forest.add(key, BlockId::kNone));
    forest.hint(gone.back(), UseHint::kSessionEnded);
    if (gone.size() > 20) forest.remove(gone.front(), true), gone.pop_front();
  }
  const std::vector<BlockId> order = order_of(forest.evictor());
  const std::set<BlockId> first(order.begin(), order.begin() + 20);
  EXPECT_EQ(first, std::set<BlockId>(gone.begin(), gone.end()));
  // Used all the same: nothing is held against it.
  forest.access(gone.back());
  EXPECT_NE(order_of(forest.evictor()).front(), gone.back());
}

TEST(ReuseEvictor, AnAdoptedBlockIsTheColdestOfItsLike) {
  Forest forest(4);
  const BlockId first = forest.add(1, BlockId::kNone);
  const BlockId second = forest.add(2, BlockId::kNone);
  forest.evictor().remove(second);
  forest.evictor().insert_coldest(second);
  EXPECT_EQ(order_of(forest.evictor()), (std::vector{second, first}));
}

// Keys 1 to 8 come back every ten rounds, between them a stream of keys that never do. LRU with room for 30 would keep
// none of them.
TEST(ReuseEvictor, LearnsFromGhostsWhatComesBack) {
  Forest forest(30);
  std::map<std::uint64_t, BlockId> places;
  std::uint64_t stream = 1000;
  std::uint64_t hits_late = 0;
  const auto touch = [&](std::uint64_t key) {
    const auto found = places.find(key);
    if (found != places.end() && forest.parents().count(found->second) > 0)
      return forest.access(found->second), true;
    if (forest.is_full()) {
      const BlockId victim = forest.evictor().coldest();
      std::erase_if(places, [&](const auto& place) { return place.second == victim; });
      forest.remove(victim, true);
    }
    places[key] = forest.add(key, BlockId::kNone);
    return false;
  };
  for (int round = 0; round < 3000; ++round) {
    forest.pass_time(1000);
    for (int i = 0; i < 10; ++i) (void)touch(++stream);
    if (round % 10 != 0) continue;
    for (std::uint64_t key = 1; key <= 8; ++key) hits_late += touch(key) && round >= 2000 ? 1 : 0;
  }
  EXPECT_GE(hits_late, 700U) << "of 800";
}

}  // namespace
}  // namespace kvtier
