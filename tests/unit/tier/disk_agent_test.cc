// The agent between its mailboxes and a store on a simulated disk.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ranges>

#include "tests/support/pattern_block.h"
#include "tests/support/scratch_dir.h"
#include "tests/unit/tier/tier_world.h"

namespace kvtier::test {
namespace {

bool has_pattern(TierWorld& world, std::uint64_t number, std::uint32_t slot) {
  const std::span<const std::byte> bytes = world.slot(slot).first(kWorldBlockBytes);
  return check_pattern(TierWorld::key(number), bytes) == bytes.size();
}

void put_all(TierWorld& world, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i)
    world.send(world.put(i, static_cast<std::uint32_t>(i), i + 1 == count));
  ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kPut) == count; }));
}

TEST(DiskAgent, ABlockGoesThereAndBackInTheConductorsIds) {
  SimDisk disk(1);
  TierWorld world(disk, {});
  ASSERT_TRUE(world.open());
  EXPECT_TRUE(world.port().takes_puts());
  put_all(world, 3);
  const DiskNews put = *world.last(DiskNewsKind::kPut);
  EXPECT_EQ(put.code, Code::kOk);
  EXPECT_EQ(put.tenant, world.space->tenant);
  EXPECT_EQ(put.space, world.space->space);
  world.send(world.get(put.tag, 10, put.locator));
  ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kGet) == 1; }));
  EXPECT_EQ(world.last(DiskNewsKind::kGet)->code, Code::kOk);
  EXPECT_TRUE(has_pattern(world, put.tag, 10));
  EXPECT_EQ(world.view().stats.puts, 3U);
}

TEST(DiskAgent, BeforeKOpenNothingIsDoneAndPutsAreRefused) {
  SimDisk disk(1);
  TierWorld world(disk, {});
  world.add_slab();
  world.send({.kind = DiskCommandKind::kSpace, .described = world.space});
  world.send(world.put(0, 0));
  ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kPut) == 1; }));
  EXPECT_EQ(world.last(DiskNewsKind::kPut)->code, Code::kUnavailable);
  EXPECT_FALSE(world.port().takes_puts());
  EXPECT_EQ(world.view().stats.reads, 0U);
}

TEST(DiskAgent, RecoveryTellsEntriesInTheIdsOfThisLife) {
  SimDisk disk(1);
  {
    TierWorld world(disk, {});
    ASSERT_TRUE(world.open());
    put_all(world, 20);
    world.send({.kind = DiskCommandKind::kFlush, .tag = 5});
    ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kFlushed) == 1; }));
    EXPECT_EQ(world.last(DiskNewsKind::kFlushed)->tag, 5U);
    world.device().power_fails();
    disk.power_cut();
  }
  TierWorld world(disk, {});
  world.space = world_space("default", "1", NamespaceId{7}, SpaceId{4});
  ASSERT_TRUE(world.open());
  ASSERT_EQ(world.count(DiskNewsKind::kEntry), 20U);
  const DiskNews entry = *world.last(DiskNewsKind::kEntry);
  EXPECT_EQ(entry.tenant, NamespaceId{7});
  EXPECT_EQ(entry.space, SpaceId{4});
  const auto number = static_cast<std::uint64_t>(
      std::ranges::find(std::views::iota(0, 20), entry.key, [](int i) { return TierWorld::key(i); }) -
      std::views::iota(0, 20).begin());
  world.send(world.get(number, 1, entry.locator));
  ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kGet) == 1; }));
  EXPECT_TRUE(has_pattern(world, number, 1));
  EXPECT_EQ(world.view().unknown_entries, 0U);
}

// Nobody asks for a flush: a second later what was put is there after a power cut all the same.
TEST(DiskAgent, WhatWasPutIsFlushedByItself) {
  SimDisk disk(1);
  {
    TierWorld world(disk, {});
    ASSERT_TRUE(world.open());
    put_all(world, 20);
    EXPECT_LE(world.agent().next_deadline_ns(), world.clock().now_ns() + kNsPerSecond);
    ASSERT_TRUE(world.run([&] { return world.view().stats.flushes == 1; }));
    EXPECT_EQ(world.count(DiskNewsKind::kFlushed), 0U);
    world.device().power_fails();
    disk.power_cut();
  }
  TierWorld world(disk, {});
  ASSERT_TRUE(world.open());
  EXPECT_EQ(world.count(DiskNewsKind::kEntry), 20U);
}

TEST(DiskAgent, EntriesOfASpaceThatNobodyDescribedHaveNoTenant) {
  SimDisk disk(1);
  {
    TierWorld world(disk, {});
    ASSERT_TRUE(world.open());
    put_all(world, 4);
    world.send({.kind = DiskCommandKind::kClose, .tag = 9});
    ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kClosed) == 1; }));
    EXPECT_EQ(world.last(DiskNewsKind::kClosed)->code, Code::kOk);
    EXPECT_EQ(world.last(DiskNewsKind::kClosed)->tag, 9U);
    EXPECT_TRUE(world.run([&] { return world.view().state == NvmeTierState::kClosed; }));
  }
  TierWorld world(disk, {});
  world.space = world_space("other", "1", NamespaceId{3}, SpaceId{1});
  ASSERT_TRUE(world.open());
  ASSERT_EQ(world.count(DiskNewsKind::kEntry), 4U);
  EXPECT_EQ(world.last(DiskNewsKind::kEntry)->tenant, NamespaceId::kNone);
  EXPECT_TRUE(world.run([&] { return world.view().unknown_entries == 4; }));
}

// More than the store takes at once: what is busy waits here, in order, and each is answered once.
TEST(DiskAgent, WhatTheStoreIsTooBusyForIsKept) {
  SimDisk disk(1);
  TierWorld world(disk, {.segments = 64, .slots = 512, .puts_max = 64});
  ASSERT_TRUE(world.open());
  for (std::uint64_t i = 0; i < 512; ++i)
    world.send(world.put(i, static_cast<std::uint32_t>(i), i % 48 == 47 || i == 511));
  world.step();
  EXPECT_TRUE(world.run([&] { return world.count(DiskNewsKind::kPut) == 512; }));
  std::vector<bool> is_answered(512);
  for (const DiskNews& each : world.news) {
    if (each.kind != DiskNewsKind::kPut) continue;
    EXPECT_EQ(each.code, Code::kOk);
    EXPECT_FALSE(is_answered[each.tag]);
    is_answered[each.tag] = true;
  }
  EXPECT_TRUE(world.run([&] { return world.view().stats.puts_refused > 0; })) << "it was busy";
}

// The conductor takes nothing for a long time: nothing is lost, nothing is doubled, the agent goes on afterwards.
TEST(DiskAgent, NoNewsIsLostWhileTheMailboxIsFull) {
  SimDisk disk(1);
  TierWorld world(disk, {});
  ASSERT_TRUE(world.open());
  put_all(world, 1);
  const DiskLocator locator = world.last(DiskNewsKind::kPut)->locator;
  world.is_receiving = false;
  std::uint64_t sent = 0;
  const std::uint64_t all = kDiskNewsMax + kDiskCommandsMax;
  for (int idle = 0; sent < all && idle < 1000;) {
    DiskCommand get = world.get(sent, 1 + static_cast<std::uint32_t>(sent % 100), locator);
    get.key = TierWorld::key(0);
    idle = world.port().send(get) ? 0 : idle + 1;
    sent += idle == 0 ? 1 : 0;
    world.step();
  }
  world.is_receiving = true;
  EXPECT_TRUE(world.run([&] { return world.count(DiskNewsKind::kGet) >= sent; }));
  EXPECT_GT(sent, kDiskNewsMax);
  std::vector<std::uint32_t> answers(sent);
  for (const DiskNews& each : world.news) {
    if (each.kind == DiskNewsKind::kGet) ++answers[each.tag];
  }
  EXPECT_EQ(std::ranges::count(answers, 1U), static_cast<std::ptrdiff_t>(sent));
}

TEST(DiskAgent, PutsOfUnknownSpacesAndSlabsAreRefusedAndTheRestOfTheGroupGoes) {
  SimDisk disk(1);
  TierWorld world(disk, {});
  ASSERT_TRUE(world.open());
  DiskCommand good = world.put(0, 0, false);
  DiskCommand no_space = world.put(1, 1, false);
  no_space.space = SpaceId{99};
  DiskCommand no_slab = world.put(2, 2, false);
  no_slab.slab = SlabIndex{2};
  DiskCommand outside = world.put(3, 3, true);  // the last of its group
  outside.data = world.slot(127).data() + kPageBytes;
  for (const DiskCommand& each : {good, no_space, no_slab, outside}) world.send(each);
  ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kPut) == 4; }));
  for (const DiskNews& each : world.news) {
    if (each.kind != DiskNewsKind::kPut) continue;
    EXPECT_EQ(each.code, each.tag == 0 ? Code::kOk : Code::kInvalid) << each.tag;
  }
}

TEST(DiskAgent, ASlabIsGivenBackOnlyWhenTheDeviceHasNothingOfIt) {
  SimDisk disk(1);
  TierWorld world(disk, {});
  ASSERT_TRUE(world.open());
  put_all(world, 1);
  const DiskNews put = *world.last(DiskNewsKind::kPut);
  world.faults().next({.fault = IoFault::kStall, .count = 4, .only = IoKind::kRead});
  DiskCommand get = world.get(0, 1, put.locator);
  get.deadline_ns = world.clock().now_ns() + 10 * kNsPerMs;
  world.send(get);
  ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kGet) == 1; }));
  EXPECT_EQ(world.last(DiskNewsKind::kGet)->code, Code::kDeadline);
  ASSERT_TRUE(world.last(DiskNewsKind::kGet)->is_held);
  world.send({.kind = DiskCommandKind::kSlabRemove, .slab = SlabIndex{0}, .tag = 77});
  EXPECT_FALSE(world.run([&] { return world.count(DiskNewsKind::kSlabRemoved) == 1; }, 2000));
  world.faults().thaw();
  ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kSlabRemoved) == 1; }));
  EXPECT_TRUE(world.run([&] { return world.count(DiskNewsKind::kReleased) == 1; }));
  EXPECT_EQ(world.last(DiskNewsKind::kSlabRemoved)->tag, 77U);
  world.send(world.put(5, 5));
  ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kPut) == 2; }));
  EXPECT_EQ(world.last(DiskNewsKind::kPut)->code, Code::kInvalid);
}

TEST(DiskAgent, PutsEndWithTheBudgetOfTheDay) {
  SimDisk disk(1);
  TierWorld world(disk, {.budget = {.bytes_per_day = 86'400ULL * 16 * kKiB, .burst_bytes = 128 * kKiB}});
  ASSERT_TRUE(world.open());
  EXPECT_FALSE(world.port().wants_evidence());
  for (std::uint64_t i = 0; i < 20; ++i) world.send(world.put(i, static_cast<std::uint32_t>(i)));
  ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kPut) == 20; }));
  const auto refused = std::ranges::count_if(world.news, [](const DiskNews& news) {
    return news.kind == DiskNewsKind::kPut && news.code == Code::kNoSpace;
  });
  EXPECT_GT(refused, 5);  // ten of 12 KiB and their headers are 128 KiB
  EXPECT_LT(refused, 15);
  EXPECT_FALSE(world.port().takes_puts());
  EXPECT_TRUE(world.port().wants_evidence());
  EXPECT_GT(world.view().puts_over_budget, 0U);
  world.clock().advance(6 * kNsPerSecond);  // makes 96 KiB
  world.step();
  EXPECT_TRUE(world.port().takes_puts());
  world.send(world.put(30, 30));
  ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kPut) == 21; }));
  EXPECT_EQ(world.last(DiskNewsKind::kPut)->code, Code::kOk);
  world.clock().advance(60 * kNsPerSecond);
  world.step();
  EXPECT_FALSE(world.port().wants_evidence()) << "it is full again";
}

// Blocks that come one by one have a header unit each: it counts, and so does all else that reaches the device.
TEST(DiskAgent, WhatIsWrittenStaysWithinTheBudget) {
  SimDisk disk(1);
  constexpr std::uint64_t kBurst = 256 * kKiB;
  TierWorld world(disk, {.budget = {.bytes_per_day = 0, .burst_bytes = kBurst}});
  ASSERT_TRUE(world.open());
  std::size_t stored = 0;
  for (std::uint64_t i = 0; i < 30; ++i) {
    world.send(world.put(i, static_cast<std::uint32_t>(i)));
    ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kPut) == i + 1; }));
    stored += world.last(DiskNewsKind::kPut)->code == Code::kOk ? 1 : 0;
  }
  world.send({.kind = DiskCommandKind::kFlush, .tag = 7});
  ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kFlushed) == 1; }));
  EXPECT_LE(world.view().stats.bytes_written_total(), kBurst);
  EXPECT_GT(stored, 11U) << "of 16 KiB each, and the little that segments take";
  EXPECT_LT(stored, 16U);
}

// Overwrites the paths several times: reclaim asks about each block, and what is kept can be read where it went.
TEST(DiskAgent, ReclaimAsksAndWhatIsKeptMoves) {
  SimDisk disk(1);
  TierWorld world(disk, {.segments = 6});
  std::map<std::uint64_t, DiskLocator> index;
  std::size_t questions = 0;
  std::size_t seen = 0;
  const auto number_of = [&](const Key& key) {
    for (const auto& [number, locator] : index) {
      if (TierWorld::key(number) == key) return number;
    }
    return ~std::uint64_t{0};
  };
  world.on_question = [&](const DiskNews& news) {
    ++questions;
    EXPECT_EQ(news.tenant, world.space->tenant);
    const std::uint64_t number = number_of(news.key);
    if (number == ~std::uint64_t{0} || index[number] != news.locator) return ReclaimAnswer::kDead;
    if (number % 4 == 0) return ReclaimAnswer::kKeep;
    index.erase(number);
    return ReclaimAnswer::kDrop;
  };
  const auto catch_up = [&] {
    for (; seen < world.news.size(); ++seen) {
      const DiskNews& news = world.news[seen];
      if (news.kind == DiskNewsKind::kPut && news.code == Code::kOk) index[news.tag] = news.locator;
      const std::uint64_t number = number_of(news.key);
      const bool is_named = number != ~std::uint64_t{0} && index[number] == news.old;
      if (news.kind == DiskNewsKind::kMoved) {
        if (is_named) {
          index[number] = news.locator;
        } else {
          world.send({.kind = DiskCommandKind::kForget, .locator = news.locator});
        }
      }
      if (news.kind == DiskNewsKind::kDropped && is_named) index.erase(number);
    }
  };
  ASSERT_TRUE(world.open());
  std::uint64_t next = 0;
  for (std::size_t round = 0; round < 30'000 && world.count(DiskNewsKind::kMoved) < 4; ++round) {
    if (round % 20 == 0) world.send(world.put(next, static_cast<std::uint32_t>(next % 100))), ++next;
    world.step();
    catch_up();
  }
  EXPECT_GT(questions, 8U);
  EXPECT_GE(world.count(DiskNewsKind::kMoved), 4U);
  const DiskNews moved = *world.last(DiskNewsKind::kMoved);
  const std::uint64_t number = number_of(moved.key);
  ASSERT_NE(number, ~std::uint64_t{0});
  world.send(world.get(number, 101, index[number]));
  ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kGet) == 1; }));
  EXPECT_EQ(world.last(DiskNewsKind::kGet)->code, Code::kOk);
  EXPECT_TRUE(has_pattern(world, number, 101));
}

// A mark voids what was put before it, although the store took it later; what was put after it stays.
TEST(DiskAgent, AMarkVoidsWhatWasPutBeforeItAndNothingElse) {
  SimDisk disk(1);
  {
    TierWorld world(disk, {.puts_max = 8});
    ASSERT_TRUE(world.open());
    for (std::uint64_t i = 0; i < 24; ++i) world.send(world.put(i, static_cast<std::uint32_t>(i)));
    world.send({.kind = DiskCommandKind::kMark,
                .tenant = world.space->tenant,
                .space = world.space->space,
                .tag = 1});
    for (std::uint64_t i = 24; i < 30; ++i) world.send(world.put(i, static_cast<std::uint32_t>(i)));
    ASSERT_TRUE(world.run(
        [&] { return world.count(DiskNewsKind::kPut) == 30 && world.count(DiskNewsKind::kMarked) == 1; }));
    EXPECT_EQ(world.last(DiskNewsKind::kMarked)->code, Code::kOk);
    world.send({.kind = DiskCommandKind::kClose});
    ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kClosed) == 1; }));
  }
  TierWorld world(disk, {});
  ASSERT_TRUE(world.open());
  EXPECT_EQ(world.count(DiskNewsKind::kEntry), 6U);
}

TEST(DiskAgent, ASpaceIsOnDiskBeforeItsFirstBlock) {
  const ScratchDir dir;
  SimDisk disk(1);
  {
    TierWorld world(disk, {.folder = dir.path()});
    EXPECT_TRUE(world.known.empty());
    ASSERT_TRUE(world.open());
    SpaceCatalog before;
    ASSERT_TRUE(before.read_folder(dir.path()).is_ok());
    EXPECT_TRUE(before.spaces().empty());
    put_all(world, 2);
    SpaceCatalog after;
    ASSERT_TRUE(after.read_folder(dir.path()).is_ok());
    EXPECT_EQ(after.spaces().size(), 1U);
  }
  TierWorld world(disk, {.folder = dir.path()});
  ASSERT_EQ(world.known.size(), 1U);
  EXPECT_EQ(world.known[0].namespace_name, "default");
  EXPECT_EQ(world.known[0].encoding, world.space->encoding);
}

TEST(DiskAgent, WithoutAPlaceForItsSpaceABlockIsNotWritten) {
  SimDisk disk(1);
  TierWorld world(disk, {.has_folder = false});
  ASSERT_TRUE(world.open());
  world.send(world.put(0, 0));
  world.send(world.put(1, 1));
  ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kPut) == 2; }));
  EXPECT_EQ(world.news.end()[-2].code, Code::kSystem);
  EXPECT_EQ(world.last(DiskNewsKind::kPut)->code, Code::kUnavailable);  // not tried again at once
  EXPECT_EQ(world.view().stats.puts, 0U);
}

TEST(DiskAgent, AStoreThatIsRefusedSaysWhyAndTheRestGoesOn) {
  SimDisk disk(1);
  {
    TierWorld world(disk, {});
    ASSERT_TRUE(world.open());
  }
  for (std::size_t copy = 0; copy < kSuperblockCopies; ++copy)
    disk.image(disk.open("path0"))[copy * kSuperblockStrideBytes + 30] ^= std::byte{1};
  TierWorld world(disk, {});
  EXPECT_FALSE(world.open());
  EXPECT_TRUE(world.run([&] { return world.view().state == NvmeTierState::kRefused; }));
  EXPECT_FALSE(world.agent().snapshot().refusal().empty());
  EXPECT_FALSE(world.port().takes_puts());
  world.send(world.put(0, 0));
  world.send({.kind = DiskCommandKind::kFlush});
  world.send({.kind = DiskCommandKind::kClose});
  ASSERT_TRUE(world.run([&] { return world.count(DiskNewsKind::kClosed) == 1; }));
  EXPECT_EQ(world.last(DiskNewsKind::kPut)->code, Code::kUnavailable);
  EXPECT_EQ(world.last(DiskNewsKind::kFlushed)->code, Code::kUnavailable);
}

}  // namespace
}  // namespace kvtier::test
