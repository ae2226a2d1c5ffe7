#include "daemon/config/nearest_name.h"

#include <gtest/gtest.h>

namespace kvtier {
namespace {

TEST(NearestName, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("bytes", "byte"), 1U);
  EXPECT_EQ(edit_distance("hsot", "host"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(NearestName, NearestOrNothing) {
  const std::vector<std::string_view> names = {"host.bytes", "host.lock", "log.level"};
  EXPECT_EQ(nearest_name("host.byets", names), "host.bytes");
  EXPECT_EQ(nearest_name("zzz", names), "");
  EXPECT_EQ(nearest_name(std::string(5000, 'x'), names), "");
}

TEST(NearestName, SplitAndJoin) {
  EXPECT_EQ(split_names("a|b|c", '|').size(), 3U);
  EXPECT_TRUE(split_names("", '|').empty());
  EXPECT_EQ(joined_names(split_names("a|b", '|')), "a, b");
}

}  // namespace
}  // namespace kvtier
