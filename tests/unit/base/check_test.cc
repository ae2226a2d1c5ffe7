#include "libkvclient/base/check.h"

#include <gtest/gtest.h>

namespace kvtier {
namespace {

TEST(Check, TrueConditionPasses) {
  int evaluations = 0;
  KV_CHECK(++evaluations == 1, "evaluated once");
  EXPECT_EQ(evaluations, 1);
}

TEST(CheckDeathTest, FalseConditionSaysWhereAndWhat) {
  EXPECT_DEATH(KV_CHECK(1 + 1 == 3, "sums add up"),
               "bug at .*check_test.cc:[0-9]+: sums add up \\(1 \\+ 1 == 3\\)");
}

}  // namespace
}  // namespace kvtier
