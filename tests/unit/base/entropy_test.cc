#include "libkvclient/base/entropy.h"

#include <gtest/gtest.h>

#include <set>

namespace kvtier {
namespace {

TEST(Entropy, DoesNotRepeat) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(seen.insert(entropy64()).second);
}

}  // namespace
}  // namespace kvtier
