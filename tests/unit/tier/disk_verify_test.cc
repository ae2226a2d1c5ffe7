// A scrub through the agent: asked for by a command, told as news and in the snapshot.

#include <gtest/gtest.h>

#include "daemon/tier/disk_opening.h"
#include "tests/unit/tier/tier_world.h"

namespace kvtier::test {
namespace {

void put_all(TierWorld& world, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i)
    world.send(world.put(i, static_cast<std::uint32_t>(i), i + 1 == count));
  ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kPut) == count; }));
}

bool is_over(TierWorld& world, std::uint64_t tag) {
  return world.run([&] {
    const VerifyReport report = world.view().verify;
    return report.tag == tag && report.state != VerifyState::kRunning;
  });
}

TEST(DiskVerify, ABadCopyIsToldInTheConductorsIds_R06) {
  SimDisk disk(1);
  TierWorld world(disk, {});
  ASSERT_TRUE(world.open());
  put_all(world, 20);
  const DiskNews put = *world.last(DiskNewsKind::kPut);
  const std::uint64_t at = kSegmentsOffset + put.locator.segment * 128 * kKiB + put.locator.payload_offset();
  disk.image(disk.open("path0"))[at + 5] ^= std::byte{1};
  world.send({.kind = DiskCommandKind::kVerify, .tag = 7});
  ASSERT_TRUE(is_over(world, 7));
  const VerifyReport report = world.view().verify;
  EXPECT_EQ(report.state, VerifyState::kDone);
  EXPECT_EQ(report.blocks_good, 19U);
  EXPECT_EQ(report.blocks_bad, 1U);
  ASSERT_EQ(world.count(DiskNewsKind::kDropped), 1U);
  const DiskNews dropped = *world.last(DiskNewsKind::kDropped);
  EXPECT_EQ(dropped.tenant, world.space->tenant);
  EXPECT_EQ(dropped.space, world.space->space);
  EXPECT_EQ(dropped.key, TierWorld::key(put.tag));
  EXPECT_EQ(dropped.old, put.locator);
  EXPECT_EQ(dropped.fault, DiskFault::kPayloadDamaged);
}

// A miss says nothing about a device that rots: that is told, until all that is left was read and is good.
TEST(DiskVerify, DamageIsToldWithItsPlaceUntilAScrubFindsAllGood) {
  SimDisk disk(1);
  TierWorld world(disk, {});
  ASSERT_TRUE(world.open());
  put_all(world, 20);
  const DiskNews put = *world.last(DiskNewsKind::kPut);
  const std::uint64_t segment_at = kSegmentsOffset + put.locator.segment * 128 * kKiB;
  disk.image(disk.open("path0"))[segment_at + put.locator.payload_offset() + 5] ^= std::byte{1};
  EXPECT_EQ(world.view().damage.count, 0U);
  world.send(world.get(put.tag, 30, put.locator));
  ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kGet) == 1; }));
  ASSERT_TRUE(world.run([&] { return world.view().damage.count == 1; }));
  const DiskDamage damage = world.view().damage;
  EXPECT_EQ(damage.fault, DiskFault::kPayloadDamaged);
  EXPECT_EQ(damage.key, TierWorld::key(put.tag));
  EXPECT_EQ(damage.space, world.space->digest);
  EXPECT_EQ(damage.path, 0U);
  EXPECT_EQ(damage.offset, segment_at + put.locator.header_offset());
  const NvmeTierFacts facts{.paths = {{.folder = "/mnt/a"}}, .opened = {0}};
  EXPECT_NE(damage_text(facts, world.view()).find("/mnt/a at offset " + std::to_string(damage.offset)),
            std::string::npos)
      << damage_text(facts, world.view());
  world.send({.kind = DiskCommandKind::kForget, .locator = put.locator});
  // It is on the disk still, and found by the first scrub; the second one has nothing of it.
  disk.image(disk.open("path0"))[segment_at + put.locator.payload_offset() + 5] ^= std::byte{1};
  world.send({.kind = DiskCommandKind::kVerify, .tag = 7});
  ASSERT_TRUE(is_over(world, 7));
  EXPECT_EQ(world.view().damage.answered, 1U);
  EXPECT_EQ(damage_text(facts, world.view()), "");
}

TEST(DiskVerify, BeforeTheTierServesItIsRefused) {
  SimDisk disk(1);
  TierWorld world(disk, {});
  world.send({.kind = DiskCommandKind::kVerify, .tag = 7});
  ASSERT_TRUE(is_over(world, 7));
  EXPECT_EQ(world.view().verify.state, VerifyState::kRefused);
}

TEST(DiskVerify, StopsOnDemand) {
  SimDisk disk(1);
  TierWorld world(disk, {.segments = 64, .slots = 256});
  ASSERT_TRUE(world.open());
  put_all(world, 200);
  world.send({.kind = DiskCommandKind::kVerify, .tag = 7});
  world.send({.kind = DiskCommandKind::kVerifyStop, .tag = 7});
  ASSERT_TRUE(is_over(world, 7));
  EXPECT_EQ(world.view().verify.state, VerifyState::kStopped);
}

}  // namespace
}  // namespace kvtier::test
