// Which pages are selected: how many, how many of them again, and where the others fall.

#include "tools/kvsim/longcontext_selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace kvtier::sim {
namespace {

constexpr SelectionOptions kOptions = {
    .budget_tokens = 1024, .sink_tokens = 4, .window_tokens = 128, .locality = 0.8};

class LongContextSelection : public testing::Test {
 protected:
  LayerSelection make(const SelectionSizes& sizes) {
    popularity_ = std::make_unique<Popularity>(sizes.middle(), 0);
    order_ = shuffled(sizes.middle(), chance_);
    LayerSelection selection(sizes, *popularity_, order_, 3);
    selection.begin(chance_);
    return selection;
  }

  Prng chance_{7};
  std::unique_ptr<Popularity> popularity_;
  std::vector<std::uint32_t> order_;
};

std::set<std::uint32_t> set_of(std::span<const std::uint32_t> pages) {
  return {pages.begin(), pages.end()};
}

TEST_F(LongContextSelection, TheBudgetHoldsSinksAndWindow) {
  const SelectionSizes sizes(kOptions, 1000);
  EXPECT_EQ(sizes.sinks, 1U);
  EXPECT_EQ(sizes.window, 8U);
  EXPECT_EQ(sizes.drawn, 55U);
  EXPECT_EQ(sizes.attended(), 64U);
  EXPECT_EQ(sizes.fresh, 11U);
}

TEST_F(LongContextSelection, ABudgetForAllIsAllEveryStep) {
  const SelectionSizes sizes(kOptions, 64);
  EXPECT_EQ(sizes.attended(), 64U);
  EXPECT_EQ(sizes.fresh, 0U);
  LayerSelection selection = make(sizes);
  selection.advance(chance_);
  EXPECT_EQ(set_of(selection.pages()).size(), 64U);
  EXPECT_TRUE(selection.fresh().empty());
}

TEST_F(LongContextSelection, ASmallBudgetLeavesSinksAndWindow) {
  SelectionOptions options = kOptions;
  options.budget_tokens = 16;
  const SelectionSizes sizes(options, 1000);
  EXPECT_EQ(sizes.drawn, 0U);
  LayerSelection selection = make(sizes);
  selection.advance(chance_);
  EXPECT_EQ(set_of(selection.pages()), (std::set<std::uint32_t>{0, 992, 993, 994, 995, 996, 997, 998, 999}));
}

TEST_F(LongContextSelection, ExactlyTheStatedShareIsSelectedAgain) {
  const SelectionSizes sizes(kOptions, 1000);
  LayerSelection selection = make(sizes);
  for (int step = 0; step < 100; ++step) {
    const std::set<std::uint32_t> before = set_of(selection.pages());
    selection.advance(chance_);
    const std::set<std::uint32_t> now = set_of(selection.pages());
    ASSERT_EQ(now.size(), 64U);
    std::vector<std::uint32_t> both;
    std::set_intersection(before.begin(), before.end(), now.begin(), now.end(), std::back_inserter(both));
    ASSERT_EQ(both.size(), 64U - sizes.fresh);
    for (const std::uint32_t page : selection.fresh()) ASSERT_FALSE(before.contains(page));
    for (const std::uint32_t page : selection.dropped())
      ASSERT_TRUE(before.contains(page) && !selection.has(page));
    for (const std::uint32_t page : now) ASSERT_TRUE(selection.has(page));
    ASSERT_FALSE(selection.has(selection.draw_other(chance_)));
  }
}

TEST_F(LongContextSelection, AlmostEverythingIsStillFound) {
  SelectionOptions options = kOptions;
  options.budget_tokens = 16 * 990;
  options.locality = 0.5;
  const SelectionSizes sizes(options, 1000);
  EXPECT_EQ(sizes.fresh, 10U) << "no more are left";
  LayerSelection selection = make(sizes);
  for (int step = 0; step < 20; ++step) selection.advance(chance_);
  EXPECT_EQ(set_of(selection.pages()).size(), 990U);
}

TEST_F(LongContextSelection, PopularityIsUniformOrZipfs) {
  constexpr int kDraws = 100'000;
  const Popularity uniform(10, 0);
  const Popularity zipf(10, 1);
  int uniform_first = 0;
  int zipf_first = 0;
  for (int i = 0; i < kDraws; ++i) {
    uniform_first += uniform.draw(chance_) == 0;
    zipf_first += zipf.draw(chance_) == 0;
  }
  EXPECT_NEAR(uniform_first, kDraws / 10, 1000);
  EXPECT_NEAR(zipf_first, kDraws / 2.928968, 1000) << "1 + 1/2 + ... + 1/10";
}

}  // namespace
}  // namespace kvtier::sim
