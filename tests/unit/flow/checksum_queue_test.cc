// Committed blocks wait for their checksum in order, leave from any place, and are due after one to two turns.

#include "daemon/flow/checksum_queue.h"

#include <gtest/gtest.h>

#include <vector>

#include "libkvclient/base/prng.h"

namespace kvtier {
namespace {

constexpr TimeNs kTurn = ChecksumQueue::kTurnNs;

class ChecksumQueueTest : public ::testing::Test {
 protected:
  ChecksumQueueTest() { EXPECT_TRUE(blocks_.reserve(1000).is_ok()); }

  BlockId push(TimeNs now_ns) {
    const BlockId id = blocks_.allocate();
    queue_.push(blocks_, id, now_ns);
    return id;
  }
  std::vector<BlockId> due(TimeNs now_ns) {
    std::vector<BlockId> all;
    for (BlockId id = queue_.pop_due(blocks_, now_ns); id != BlockId::kNone;
         id = queue_.pop_due(blocks_, now_ns)) {
      EXPECT_EQ(blocks_[id].flags & kBlockQueued, 0);
      all.push_back(id);
    }
    return all;
  }

  NoFdStore fds_;
  BlockTable blocks_ = BlockTable::create(1000, fds_).value();
  ChecksumQueue queue_;
};

using Ids = std::vector<BlockId>;

TEST_F(ChecksumQueueTest, a_block_is_due_after_one_to_two_turns) {
  EXPECT_EQ(queue_.next_due_ns(), kNever);
  const BlockId first = push(0);
  const BlockId late = push(kTurn - 1);
  EXPECT_EQ(queue_.next_due_ns(), kTurn);
  EXPECT_EQ(due(2 * kTurn - 1), Ids{});
  const BlockId next = push(2 * kTurn - 1);
  EXPECT_EQ(due(2 * kTurn), (Ids{first, late}));
  EXPECT_EQ(due(3 * kTurn - 1), Ids{});
  EXPECT_EQ(due(3 * kTurn), Ids{next});
  EXPECT_EQ(queue_.next_due_ns(), kNever) << "nobody waits: nobody is woken";
}

TEST_F(ChecksumQueueTest, turns_that_nobody_looked_at_are_made_up) {
  const BlockId first = push(0);
  const BlockId second = push(10 * kTurn);
  EXPECT_EQ(due(11 * kTurn), (Ids{first, second}));
}

TEST_F(ChecksumQueueTest, a_block_that_somebody_waits_for_is_due_before_all_others) {
  const BlockId due_before = push(0);
  EXPECT_EQ(due(2 * kTurn - 1), Ids{});
  const BlockId young = push(2 * kTurn - 1);
  const BlockId younger = push(2 * kTurn - 1);
  queue_.hurry(blocks_, younger);
  EXPECT_EQ(queue_.next_due_ns(), 0U);
  EXPECT_EQ(queue_.size(), 3U);
  EXPECT_EQ(due(2 * kTurn), (Ids{younger, due_before}));
  queue_.hurry(blocks_, young);
  queue_.hurry(blocks_, young);
  EXPECT_EQ(due(2 * kTurn), Ids{young});
  EXPECT_EQ(queue_.size(), 0U);
}

TEST_F(ChecksumQueueTest, blocks_leave_from_any_place_and_the_others_keep_their_order) {
  Prng chance(7);
  Ids waiting;
  TimeNs now = 0;
  for (int step = 0; step < 20'000; ++step, now += kTurn / 64) {
    if (chance.below(2) == 0 && waiting.size() < 900) {
      waiting.push_back(push(now));
    } else if (!waiting.empty() && chance.below(2) == 0) {
      const auto at = static_cast<std::ptrdiff_t>(chance.below(waiting.size()));
      queue_.remove(blocks_, waiting[static_cast<std::size_t>(at)]);
      blocks_.free(waiting[static_cast<std::size_t>(at)]);
      waiting.erase(waiting.begin() + at);
    } else if (chance.below(8) == 0) {
      const Ids taken = due(now);
      ASSERT_LE(taken.size(), waiting.size());
      EXPECT_TRUE(std::equal(taken.begin(), taken.end(), waiting.begin()));
      for (const BlockId id : taken) blocks_.free(id);
      waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(taken.size()));
    }
    ASSERT_EQ(queue_.size(), waiting.size());
  }
  EXPECT_EQ(due(now + 2 * kTurn), waiting);
}

}  // namespace
}  // namespace kvtier
