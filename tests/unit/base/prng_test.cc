#include "libkvclient/base/prng.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>

namespace kvtier {
namespace {

// Published sequence of SplitMix64: seeds in bug reports replay in every release.
TEST(Prng, GoldenSequence) {
  Prng prng(1234567);
  EXPECT_EQ(prng.next(), 6457827717110365317ULL);
  EXPECT_EQ(prng.next(), 3203168211198807973ULL);
  EXPECT_EQ(prng.next(), 9817491932198370423ULL);
}

TEST(Prng, BelowStaysBelowAndReachesAll) {
  Prng prng(1);
  std::array<int, 7> hits{};
  for (int i = 0; i < 7000; ++i) {
    const std::uint64_t value = prng.below(7);
    ASSERT_LT(value, 7U);
    ++hits[value];
  }
  for (const int hit : hits) EXPECT_GT(hit, 800);
  EXPECT_EQ(prng.below(1), 0U);
}

TEST(Prng, BelowWithTheLargestBound) {
  Prng prng(2);
  bool is_high_seen = false;
  for (int i = 0; i < 100; ++i) is_high_seen |= prng.below(~std::uint64_t{0}) > (std::uint64_t{1} << 63);
  EXPECT_TRUE(is_high_seen);
}

TEST(Prng, UnitIsInRange) {
  Prng prng(3);
  double total = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double value = prng.unit();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    total += value;
  }
  EXPECT_NEAR(total / 10'000, 0.5, 0.02);
}

TEST(Prng, Mix64SpreadsRegularKeys) {
  for (std::uint64_t bit = 0; bit < 64; ++bit) {
    const int changed = std::popcount(mix64(12345) ^ mix64(12345 ^ (std::uint64_t{1} << bit)));
    EXPECT_GT(changed, 15) << bit;
    EXPECT_LT(changed, 49) << bit;
  }
}

}  // namespace
}  // namespace kvtier
