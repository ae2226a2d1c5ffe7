// What the model makes of simple lives of blocks: which cells are worth more.

#include "daemon/policy/reuse_model.h"

#include <gtest/gtest.h>

#include <set>

namespace kvtier {
namespace {

using Cell = ReuseModel::Cell;

constexpr ReuseTraits kOnce{.uses = 0};
constexpr ReuseTraits kTwice{.gap_ms = 1000, .uses = 1, .has_gap = true};

Cell at(const ReuseTraits& traits, std::uint32_t age) {
  return static_cast<Cell>(ReuseModel::cell_of(traits) + age);
}

// `count` blocks get to `age` steps; there a share of them is used again.
void live(ReuseModel& model, const ReuseTraits& traits, std::uint32_t age, int count, int used_again) {
  for (int i = 0; i < count; ++i) {
    for (std::uint32_t step = 0; step <= age; ++step) model.got_to(at(traits, step));
    if (i < used_again) model.used_again(at(traits, age));
  }
}

TEST(ReuseModel, EachCellHasOneRank) {
  ReuseModel model;
  live(model, kTwice, 5, 100, 50);
  live(model, kOnce, 9, 1000, 30);
  model.learn();
  std::set<Cell> seen;
  for (std::uint32_t rank = 0; rank < ReuseModel::kCells; ++rank) {
    seen.insert(model.cell_at(rank));
    ASSERT_EQ(model.rank_of(model.cell_at(rank)), rank);
  }
  EXPECT_EQ(seen.size(), ReuseModel::kCells);
}

TEST(ReuseModel, AHintMakesAnotherClassAndTakesTheLessonBack) {
  std::set<Cell> classes = {at(kTwice, 0)};
  for (const UseHint hint : {UseHint::kToolCall, UseHint::kTurnEnded, UseHint::kSessionEnded}) {
    ReuseTraits traits = kTwice;
    traits.hint = hint;
    classes.insert(at(traits, 0));
  }
  EXPECT_EQ(classes.size(), 4U);
  // As many that nobody used again would make it worth less; taken back they say nothing.
  const auto rank_after = [](bool is_taken_back) {
    ReuseModel model;
    live(model, kOnce, 0, 10'000, 1'000);
    live(model, kTwice, 0, 1'000, 200);
    for (int i = 0; i < 100'000; ++i) {
      model.got_to(at(kTwice, 0));
      if (is_taken_back) model.take_back(at(kTwice, 0));
    }
    model.learn();
    return model.rank_of(at(kTwice, 0)) > model.rank_of(at(kOnce, 0));
  };
  EXPECT_TRUE(rank_after(true));
  EXPECT_FALSE(rank_after(false));
}

TEST(ReuseModel, WithoutAnyLessonTheOlderLeavesFirst) {
  const ReuseModel model;
  EXPECT_LT(model.rank_of(at(kTwice, 3)), model.rank_of(at(kOnce, 2)));
  EXPECT_LT(model.rank_of(at(kOnce, 9)), model.rank_of(at(kTwice, 8)));
}

TEST(ReuseModel, WhatComesBackMoreOftenIsWorthMore) {
  ReuseModel model;
  live(model, kOnce, 4, 10'000, 100);
  live(model, kTwice, 4, 10'000, 5'000);
  model.learn();
  for (std::uint32_t age = 0; age <= 4; ++age)
    EXPECT_LT(model.rank_of(at(kOnce, age)), model.rank_of(at(kTwice, age)));
}

TEST(ReuseModel, WhatComesBackSoonerIsWorthMore) {
  ReuseModel model;
  live(model, kOnce, 12, 10'000, 5'000);
  live(model, kTwice, 4, 10'000, 5'000);
  model.learn();
  EXPECT_LT(model.rank_of(at(kOnce, 0)), model.rank_of(at(kTwice, 0)));
}

// A fifth of them soon, or nine tenths of them sixteen times as late: time counts, not the number of ages.
TEST(ReuseModel, AShortStayWithFewUsesIsWorthMoreThanALongOneWithMany) {
  ReuseModel model;
  live(model, kOnce, 12, 10'000, 9'000);
  live(model, kTwice, 4, 2'000, 2'000);
  live(model, kTwice, 20, 8'000, 0);
  model.learn();
  EXPECT_LT(model.rank_of(at(kOnce, 0)), model.rank_of(at(kTwice, 0)));
}

// Nearly all come back at one age: worth more the nearer it is, and little behind it. LRU has it the other way round.
TEST(ReuseModel, ABlockGainsWorthBeforeItsUsualGapAndLosesItBehind) {
  ReuseModel model;
  live(model, kTwice, 10, 10'000, 9'500);
  live(model, kTwice, 20, 10'000, 0);
  model.learn();
  for (std::uint32_t age = 0; age < 10; ++age)
    EXPECT_LT(model.rank_of(at(kTwice, age)), model.rank_of(at(kTwice, age + 1))) << age;
  EXPECT_GT(model.rank_of(at(kTwice, 10)), model.rank_of(at(kTwice, 11)));
}

// In pieces, each of a bounded length, until the order is a new one; what comes meanwhile counts.
TEST(ReuseModel, ManyUsesMakeALessonThatComesInPieces) {
  ReuseModel model;
  live(model, kTwice, 5, 100, 90);
  EXPECT_FALSE(model.learn_some()) << "not due";
  const std::uint32_t rank = model.rank_of(at(kOnce, 0));
  live(model, kOnce, 0, 1000, 1000);
  int pieces = 1;
  while (!model.learn_some()) ++pieces;
  EXPECT_GT(pieces, 1);
  EXPECT_LE(pieces, 200);
  EXPECT_GT(model.rank_of(at(kOnce, 0)), rank);
  EXPECT_FALSE(model.learn_some()) << "not due again";
}

TEST(ReuseModel, TraitsBeyondAllBoundsHaveCells) {
  ReuseTraits most{.gap_ms = 0xffffffff, .uses = 0xff, .depth = 0xff, .has_gap = true};
  constexpr std::uint32_t kPlainCells = ReuseModel::kPlainClasses * ReuseModel::kAges;
  EXPECT_EQ(ReuseModel::cell_of(most) + ReuseModel::kAges, kPlainCells) << "the last class without a hint";
  most.hint = UseHint::kSessionEnded;
  EXPECT_EQ(ReuseModel::cell_of(most) + ReuseModel::kAges, ReuseModel::kCells) << "the last class";
  EXPECT_EQ(ReuseModel::cell_of({}), 0U);
}

}  // namespace
}  // namespace kvtier
