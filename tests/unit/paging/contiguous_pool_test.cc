// First fit, and holes that grow together.

#include "tools/paging/contiguous_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "libkvclient/base/prng.h"

namespace kvtier::sim {
namespace {

TEST(ContiguousPool, TakesTheFirstHoleThatIsLargeEnough) {
  ContiguousPool pool(100);
  EXPECT_EQ(pool.allocate(30), 0U);
  EXPECT_EQ(pool.allocate(20), 30U);
  EXPECT_EQ(pool.allocate(40), 50U);
  pool.free(0, 30);
  pool.free(50, 40);
  EXPECT_EQ(pool.free_tokens(), 80U);
  EXPECT_EQ(pool.largest_hole(), 50U);
  EXPECT_EQ(pool.allocate(60), std::nullopt) << "there is enough, in two pieces";
  EXPECT_EQ(pool.allocate(35), 50U);
  EXPECT_EQ(pool.allocate(30), 0U);
}

TEST(ContiguousPool, HolesThatTouchAreOne) {
  ContiguousPool pool(90);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(pool.allocate(30).has_value());
  EXPECT_EQ(pool.largest_hole(), 0U);
  pool.free(0, 30);
  pool.free(60, 30);
  EXPECT_EQ(pool.largest_hole(), 30U);
  pool.free(30, 30);
  EXPECT_EQ(pool.largest_hole(), 90U);
  EXPECT_EQ(pool.allocate(90), 0U);
}

TEST(ContiguousPool, APieceThatIsFreedTwiceIsABug) {
  ContiguousPool pool(10);
  ASSERT_TRUE(pool.allocate(10).has_value());
  pool.free(2, 4);
  EXPECT_DEATH(pool.free(2, 4), "is freed that is free");
  EXPECT_DEATH(pool.free(0, 3), "is freed that is free");
}

// Against an array that says of every place whose it is.
TEST(ContiguousPool, DoesAsAMapOfAllPlacesDoes) {
  struct Piece {
    std::uint64_t begin, tokens;
  };
  constexpr std::uint64_t kPlaces = 300;
  ContiguousPool pool(kPlaces);
  std::vector<bool> taken(kPlaces);
  std::vector<Piece> pieces;
  Prng chance(5);
  for (int step = 0; step < 20000; ++step) {
    if (chance.below(2) == 0 && !pieces.empty()) {
      const std::size_t which = chance.below(pieces.size());
      const Piece piece = pieces[which];
      pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(which));
      pool.free(piece.begin, piece.tokens);
      for (std::uint64_t i = 0; i < piece.tokens; ++i) taken[piece.begin + i] = false;
    } else {
      const std::uint64_t wanted = 1 + chance.below(60);
      std::uint64_t run = 0, largest = 0, first_fit = kPlaces;
      for (std::uint64_t i = 0; i < kPlaces; ++i) {
        run = taken[i] ? 0 : run + 1;
        largest = std::max(largest, run);
        if (run == wanted && first_fit == kPlaces) first_fit = i + 1 - wanted;
      }
      ASSERT_EQ(pool.largest_hole(), largest);
      const auto begin = pool.allocate(wanted);
      ASSERT_EQ(begin.value_or(kPlaces), first_fit);
      if (!begin) continue;
      pieces.push_back({*begin, wanted});
      for (std::uint64_t i = 0; i < wanted; ++i) taken[*begin + i] = true;
    }
    ASSERT_EQ(pool.free_tokens(), static_cast<std::uint64_t>(std::ranges::count(taken, false)));
  }
}

}  // namespace
}  // namespace kvtier::sim
