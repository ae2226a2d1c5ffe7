// The write budget over several lives of a daemon.

#include <gtest/gtest.h>

#include "tests/unit/tier/tier_world.h"

namespace kvtier::test {
namespace {

// However often it dies: each life has what the time since the last write has filled, never a burst again.
TEST(DiskBudget, ACrashLoopKeepsToTheBudget) {
  constexpr std::uint64_t kPerSecond = 16 * kKiB;
  constexpr std::uint64_t kBurst = 512 * kKiB;
  SimDisk disk(1);
  const ScratchDir folder;
  const TierWorldOptions options{.segments = 32,
                                 .budget = {.bytes_per_day = 86'400ULL * kPerSecond, .burst_bytes = kBurst},
                                 .folder = folder.path()};
  std::uint64_t taken = 0;
  TimeNs now_ns = 0;
  for (std::uint64_t life = 0; life < 10; ++life) {
    TierWorld world(disk, options);
    world.clock().advance(now_ns);
    const TimeNs began_ns = world.clock().now_ns();
    ASSERT_TRUE(world.open());
    for (std::uint64_t i = 0; i < 100; ++i)
      world.send(world.put(life * 100 + i, static_cast<std::uint32_t>(i)));
    ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kPut) == 100; }));
    for (const DiskNews& news : world.news)
      taken += news.kind == DiskNewsKind::kPut && news.code == Code::kOk ? kWorldBlockBytes : 0;
    now_ns += world.clock().now_ns() - began_ns + kNsPerSecond;
  }
  EXPECT_GT(taken, kBurst / 2);
  EXPECT_LE(taken, kBurst + now_ns / kNsPerSecond * kPerSecond + kPerSecond);
}

}  // namespace
}  // namespace kvtier::test
