// One slab: slots, a change of slot size, generations that only rise, slots whose generations are used up.

#include "daemon/memory/slab.h"

#include <gtest/gtest.h>

#include <set>

#include "libkvclient/base/prng.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

Slab make_slab(std::uint64_t bytes) {
  NoFdStore fds;
  Result<Slab> slab = Slab::create(SlabIndex{3}, bytes, SlabPages::kOrdinary, fds);
  EXPECT_TRUE(slab.is_ok()) << slab.status().to_string();
  return std::move(slab).value();
}

void give_back(Slab& slab, std::uint32_t slot) {
  --slab.writing_count;
  slab.give_back(slot);
}

TEST(Slab, EverySlotIsInsideAlignedAndNobodyElses) {
  Slab slab = make_slab(kMiB);
  ASSERT_TRUE(slab.assign(NamespaceId{0}, 12 * kKiB).is_ok());
  EXPECT_EQ(slab.slot_count(), kMiB / (12 * kKiB));
  std::set<std::uint32_t> slots;
  while (slab.free_count() > 0) {
    std::uint32_t slot = 0;
    ASSERT_EQ(slab.take(slot), 1U);
    ASSERT_TRUE(slots.insert(slot).second);
    const auto offset = static_cast<std::uint64_t>(slab.payload(slot) - slab.payload(0));
    EXPECT_EQ(offset % kSlotAlignment, 0U);
    EXPECT_LE(offset + slab.slot_bytes(), slab.bytes());
  }
  EXPECT_EQ(slots.size(), slab.slot_count());
  EXPECT_EQ(*slots.begin(), 0U);
  EXPECT_FALSE(slab.is_empty());
  EXPECT_EQ(slab.writing_count, slab.slot_count());
}

TEST(Slab, RefusesABlockThatDoesNotFitWithBothSizesAndTheKnob) {
  Slab slab = make_slab(64 * kKiB);
  const Status status = slab.assign(NamespaceId{0}, 68 * kKiB);
  EXPECT_EQ(status.code(), Code::kInvalid);
  for (const char* part : {"68 KiB", "64 KiB", "raise host.slab_bytes"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
  EXPECT_EQ(slab.owner(), NamespaceId::kNone);
}

// A random life: takes, returns, changes of slot size. No (slot, generation) is ever given out twice: a
// locator of before is stale for ever, whatever was cut out of the memory since.
TEST(Slab, GenerationsOnlyRiseOverChangesOfSlotSize) {
  Slab slab = make_slab(256 * kKiB);
  Prng chance(7);
  std::set<std::pair<std::uint32_t, Generation>> given;
  constexpr std::uint64_t kSizes[] = {4 * kKiB, 8 * kKiB, 20 * kKiB, 256 * kKiB};
  for (int life = 0; life < 200; ++life) {
    ASSERT_TRUE(slab.assign(NamespaceId{0}, kSizes[chance.below(4)]).is_ok());
    std::vector<std::uint32_t> held;
    for (int step = 0; step < 100; ++step) {
      if (slab.free_count() > 0 && chance.below(2) == 0) {
        std::uint32_t slot = 0;
        const Generation generation = slab.take(slot);
        ASSERT_GT(generation, 0U);
        ASSERT_TRUE(given.emplace(slot, generation).second) << slot << " " << generation;
        held.push_back(slot);
      } else if (!held.empty()) {
        give_back(slab, held.back());
        held.pop_back();
      }
    }
    for (const std::uint32_t slot : held) give_back(slab, slot);
    ASSERT_TRUE(slab.is_empty());
  }
}

TEST(Slab, ASlotWhoseGenerationsAreUsedUpIsLostAndTheSlabStaysUsable) {
  NoFdStore fds;
  Result<Slab> made = Slab::create(SlabIndex{0}, 16 * kKiB, SlabPages::kOrdinary, fds, kGenerationMax - 1);
  ASSERT_TRUE(made.is_ok());
  Slab slab = std::move(made).value();
  ASSERT_TRUE(slab.assign(NamespaceId{0}, 4096).is_ok());
  std::uint32_t slot = 0;
  EXPECT_EQ(slab.take(slot), kGenerationMax);
  give_back(slab, slot);
  EXPECT_EQ(slab.take(slot), 0U) << "one more use would repeat a generation";
  EXPECT_EQ(slab.free_count(), 3U);
  EXPECT_EQ(slab.writing_count, 0U);
  EXPECT_TRUE(slab.is_empty()) << "a lost slot holds nothing";
  EXPECT_EQ(slab.take(slot), kGenerationMax) << "the others go on";
}

TEST(SlabDeathTest, NeverChangesItsNamespaceNorItsSlotSizeWhileInUse) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Slab slab = make_slab(64 * kKiB);
  ASSERT_TRUE(slab.assign(NamespaceId{0}, 4096).is_ok());
  EXPECT_DEATH((void)slab.assign(NamespaceId{1}, 4096), "never changes its namespace");
  std::uint32_t slot = 0;
  (void)slab.take(slot);
  EXPECT_DEATH((void)slab.assign(NamespaceId{0}, 8192), "only an empty slab");
  ASSERT_TRUE(slab.table().publish(slot, 1));
  EXPECT_DEATH(slab.give_back(slot), "nobody can lease");
}

TEST(Slab, ReadersGetADescriptorThatCannotWrite) {
  const Slab slab = make_slab(64 * kKiB);
  EXPECT_TRUE(ShmMapping::map(slab.data_fd(true), 64 * kKiB, ShmAccess::kReadWrite).is_ok());
  EXPECT_TRUE(ShmMapping::map(slab.data_fd(false), 64 * kKiB, ShmAccess::kReadOnly).is_ok());
  EXPECT_FALSE(ShmMapping::map(slab.data_fd(false), 64 * kKiB, ShmAccess::kReadWrite).is_ok());
  EXPECT_FALSE(ShmMapping::map(slab.table_fd(), slab.table_bytes(), ShmAccess::kReadWrite).is_ok());
}

TEST(Slab, AForeignBlockOrSlotIsNobody) {
  Slab slab = make_slab(64 * kKiB);
  ASSERT_TRUE(slab.assign(NamespaceId{0}, 4096).is_ok());
  slab.set_block(5, BlockId{9});
  EXPECT_EQ(slab.block(5), BlockId{9});
  EXPECT_EQ(slab.block(16), BlockId::kNone);
  EXPECT_EQ(slab.block(~0U), BlockId::kNone);
}

}  // namespace
}  // namespace kvtier
