// Groups leave whole and in order.

#include <gtest/gtest.h>

#include "daemon/tier/group_queue.h"

namespace kvtier {
namespace {

TEST(GroupQueue, AGroupLeavesWhenItsEndIsThere) {
  GroupQueue<int> queue(kDiskGroupMax + 1);
  queue.push(1, false);
  queue.push(2, false);
  EXPECT_TRUE(queue.group().empty());
  EXPECT_EQ(queue.size(), 2U);
  queue.push(3, true);
  queue.push(4, false);
  ASSERT_EQ(queue.group().size(), 3U);
  EXPECT_EQ(queue.group()[0], 1);
  EXPECT_EQ(queue.group()[2], 3);
  EXPECT_EQ(queue.size(), 4U);
  queue.pop_group();
  EXPECT_TRUE(queue.group().empty());
  queue.end_group();
  ASSERT_EQ(queue.group().size(), 1U);
  EXPECT_EQ(queue.group()[0], 4);
}

TEST(GroupQueue, OneThatIsTooLongEndsByItself) {
  GroupQueue<int> queue(2 * kDiskGroupMax);
  for (int i = 0; i < static_cast<int>(kDiskGroupMax) + 3; ++i) queue.push(i, false);
  EXPECT_EQ(queue.group().size(), kDiskGroupMax);
  queue.pop_group();
  EXPECT_TRUE(queue.group().empty());
  queue.end_group();
  ASSERT_EQ(queue.group().size(), 3U);
  EXPECT_EQ(queue.group()[2], static_cast<int>(kDiskGroupMax) + 2);
}

TEST(GroupQueue, AFullOneAlwaysHasAWholeGroup) {
  GroupQueue<int> queue(kDiskGroupMax + 1);
  int next = 0;
  for (int turn = 0; turn < 50; ++turn) {
    for (; queue.has_room(); ++next) queue.push(next, next % 7 == 0);
    ASSERT_FALSE(queue.group().empty());
    queue.pop_group();
  }
}

}  // namespace
}  // namespace kvtier
