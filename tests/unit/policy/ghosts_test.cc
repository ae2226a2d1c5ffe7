// Ghost queues against plain ones over random operations, full and not full.

#include "daemon/policy/ghosts.h"

#include <gtest/gtest.h>

#include "libkvclient/base/prng.h"
#include "tests/unit/policy/plain_queue.h"

namespace kvtier {
namespace {

TEST(Ghosts, AgreeWithPlainQueuesOverARandomLife) {
  constexpr std::uint32_t kMax = 50;
  Prng chance(3);
  Ghosts ghosts(kMax, 1);
  PlainQueue model[Ghosts::kQueues];
  for (int step = 0; step < 50000; ++step) {
    const std::uint64_t key = 1 + chance.below(120);
    const auto queue = static_cast<std::uint32_t>(chance.below(Ghosts::kQueues));
    if (chance.below(3) == 0) {
      const std::uint32_t ghost = ghosts.find(key);
      ASSERT_EQ(ghost != Ghosts::kNone, model[0].has(key) || model[1].has(key));
      if (ghost == Ghosts::kNone) continue;
      EXPECT_EQ(ghosts.note_of(ghost), key * 3);
      ASSERT_TRUE(model[ghosts.queue_of(ghost)].take(key));
      ghosts.erase(ghost);
    } else {
      ghosts.insert(queue, key, key * 3);
      (void)(model[0].take(key) || model[1].take(key));
      if (model[0].size() + model[1].size() == kMax)
        model[model[queue].size() == 0 ? 1 - queue : queue].pop();
      model[queue].push(key);
    }
    for (std::uint32_t i = 0; i < Ghosts::kQueues; ++i) ASSERT_EQ(ghosts.size(i), model[i].size());
  }
}

TEST(Ghosts, TellOwnersApart) {
  const Ghosts ghosts(4, 1);
  BlockRecord record{};
  record.key.words = {1, 2, 3, 4};
  const std::uint64_t own = ghosts.fingerprint(record);
  EXPECT_EQ(ghosts.fingerprint(record), own);
  EXPECT_NE(Ghosts(4, 2).fingerprint(record), own);
  record.space = SpaceId{1};
  EXPECT_NE(ghosts.fingerprint(record), own);
  record.space = SpaceId::kNone;
  record.tenant = 1;
  EXPECT_NE(ghosts.fingerprint(record), own);
  record.tenant = 0;
  record.key.words = {1, 2, 4, 3};
  EXPECT_NE(ghosts.fingerprint(record), own);
}

}  // namespace
}  // namespace kvtier
