// The LRU list against a plain list over random operations: same order, same size, whatever happens.

#include "daemon/policy/lru_evictor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <vector>

#include "libkvclient/base/prng.h"
#include "tests/unit/policy/small_cache.h"

namespace kvtier {
namespace {

class LruEvictorTest : public ::testing::Test {
 protected:
  BlockTable blocks_ = make_block_table(512);
  LruEvictor lru_{blocks_};
  std::vector<BlockId> a_;

  void SetUp() override {
    for (int i = 0; i < 8; ++i) a_.push_back(blocks_.allocate());
  }
};

TEST_F(LruEvictorTest, AChildEntersColderThanItsParent) {
  lru_.insert(a_[0], BlockId::kNone);
  lru_.insert(a_[1], a_[0]);
  lru_.insert(a_[2], a_[1]);
  lru_.insert(a_[3], BlockId::kNone);
  EXPECT_EQ(order_of(lru_), (std::vector{a_[2], a_[1], a_[0], a_[3]})) << "tail first";
}

TEST_F(LruEvictorTest, APrefixReportedLastFirstKeepsItsHeadHottest) {
  lru_.insert(a_[0], BlockId::kNone);
  lru_.insert(a_[1], a_[0]);
  lru_.insert(a_[2], a_[1]);
  lru_.insert(a_[3], BlockId::kNone);
  for (const int i : {2, 1, 0}) lru_.access(a_[static_cast<std::size_t>(i)]);
  EXPECT_EQ(order_of(lru_), (std::vector{a_[3], a_[2], a_[1], a_[0]}));
}

TEST_F(LruEvictorTest, EmptyOneAndTwo) {
  EXPECT_EQ(lru_.coldest(), BlockId::kNone);
  EXPECT_EQ(lru_.size(), 0U);
  lru_.insert(a_[0], BlockId::kNone);
  lru_.access(a_[0]);
  lru_.defer(a_[0]);
  EXPECT_EQ(order_of(lru_), std::vector{a_[0]});
  lru_.insert_coldest(a_[1]);
  EXPECT_EQ(order_of(lru_), (std::vector{a_[1], a_[0]}));
  lru_.remove(a_[0]);
  lru_.remove(a_[1]);
  EXPECT_EQ(lru_.coldest(), BlockId::kNone);
  lru_.insert_coldest(a_[2]);
  EXPECT_EQ(order_of(lru_), std::vector{a_[2]});
}

TEST_F(LruEvictorTest, TheMarkGoesOnToTheNextOneWhenItsBlockLeavesOrMoves) {
  for (int i = 0; i < 4; ++i) lru_.insert(a_[static_cast<std::size_t>(i)], BlockId::kNone);
  lru_.set_mark(a_[0]);
  lru_.remove(a_[1]);
  EXPECT_EQ(lru_.mark(), a_[0]) << "others come and go";
  lru_.access(a_[0]);
  EXPECT_EQ(lru_.mark(), a_[2]) << "it is the hottest now: a scan from the cold end goes on where it was";
  lru_.remove(a_[2]);
  lru_.remove(a_[3]);
  EXPECT_EQ(lru_.mark(), a_[0]);
  lru_.remove(a_[0]);
  EXPECT_EQ(lru_.mark(), BlockId::kNone);
}

TEST_F(LruEvictorTest, AgreesWithAPlainListOverARandomLife) {
  for (int seed = 1; seed <= 20; ++seed) {
    Prng chance(static_cast<std::uint64_t>(seed));
    LruEvictor lru(blocks_);
    std::vector<BlockId> outside;
    for (int i = 0; i < 60; ++i) outside.push_back(blocks_.allocate());
    std::list<BlockId> model;  // coldest first
    const auto pick = [&] {
      return *std::next(model.begin(), static_cast<long>(chance.below(model.size())));
    };
    for (int step = 0; step < 3000; ++step) {
      const std::uint64_t action = chance.below(5);
      if (action == 0 && !outside.empty()) {
        const BlockId id = outside.back();
        outside.pop_back();
        if (chance.below(4) == 0) {
          lru.insert_coldest(id);
          model.push_front(id);
        } else {
          const BlockId parent = model.empty() || chance.below(2) == 0 ? BlockId::kNone : pick();
          lru.insert(id, parent);
          model.insert(std::find(model.begin(), model.end(), parent), id);
        }
      } else if (model.empty()) {
        continue;
      } else if (action == 1) {
        const BlockId id = pick();
        lru.remove(id);
        model.remove(id);
        outside.push_back(id);
      } else {
        const BlockId id = pick();
        action == 2 ? lru.defer(id) : lru.access(id);
        model.remove(id);
        model.push_back(id);
      }
      ASSERT_EQ(lru.size(), model.size());
      if (step % 16 == 0) {
        ASSERT_EQ(order_of(lru), std::vector(model.begin(), model.end()));
      }
    }
    for (const BlockId id : outside) blocks_.free(id);
    for (const BlockId id : model) blocks_.free(id);
  }
}

}  // namespace
}  // namespace kvtier
