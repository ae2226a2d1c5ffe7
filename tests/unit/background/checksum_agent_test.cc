// The agent sums what the store hands out and no more is in flight than its mailboxes hold.

#include "daemon/background/checksum_agent.h"

#include <gtest/gtest.h>

#include "daemon/flow/stats.h"
#include "libkvclient/base/units.h"
#include "tests/support/no_waiter.h"
#include "tests/support/pattern_block.h"
#include "tests/support/sim_client.h"

namespace kvtier::test {
namespace {

TEST(ChecksumAgent, SumsEveryCommittedBlockOnce) {
  ManualClock clock;
  NoFdStore fds;
  StoreOptions options;
  options.host_bytes = 4 * kMiB;
  options.slab_bytes = kMiB;
  Result<std::unique_ptr<Store>> store = Store::create(options, clock, fds);
  ASSERT_TRUE(store.is_ok());
  SimClient client(*store.value(), "main", 100);
  const SpaceId space = client.register_space(encoded_spec("m", 4096));
  std::vector<Key> keys;
  for (std::uint64_t i = 0; i < 100; ++i) keys.push_back(pattern_key(1, i));
  const std::uint32_t request = client.reserve(space, keys, Key{});
  std::vector<Hold> holds;
  for (const Reservation& each : client.reserved(request)) {
    client.fill(each);
    holds.push_back(each.result.hold);
  }
  client.commit(holds);

  NoWaiter own;
  NoWaiter conductor;
  ChecksumAgent agent(own, conductor);
  EXPECT_EQ(agent.exchange(*store.value()), 0U) << "not at once: a block that leaves soon never pays";
  clock.advance(2 * kNsPerSecond);
  for (int i = 0; i < 1000 && store.value()->stats().checksums < 100; ++i) {
    (void)agent.exchange(*store.value());
    while (agent.do_work(0) > 0) {
    }
  }
  EXPECT_EQ(store.value()->stats().checksums, 100U);
  EXPECT_EQ(agent.exchange(*store.value()), 0U);
  EXPECT_GT(own.wakes, 0);
  EXPECT_GT(conductor.wakes, 0);
}

}  // namespace
}  // namespace kvtier::test
