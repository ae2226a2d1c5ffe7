// What a store opens, what it refuses, and that a refusal writes nothing.

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "daemon/disk/format_seal.h"
#include "tests/unit/disk/store_images.h"

namespace kvtier::test {
namespace {

void blank_superblocks(SimDisk& disk) {
  for (std::uint64_t copy = 0; copy < kSuperblockCopies; ++copy)
    std::ranges::fill(bytes_at(disk, copy * kSuperblockStrideBytes, kHeaderBytesMax), std::byte{0});
}

// Where an index has no names for all, the old ones go without.
TEST(StoreOpen, TheNewestSegmentsAreToldFirst) {
  SimDisk disk(1);
  {
    SimStore sim(disk, small_sim_options(), 1, kFileBytes);
    ASSERT_TRUE(sim.open());
    for (std::uint64_t i = 0; i < 40; ++i) ASSERT_EQ(sim.put_one(sim_key(i)), Code::kOk);
    ASSERT_EQ(sim.flush_now(), Code::kOk);
  }
  SimStore sim(disk, small_sim_options(), 1, kFileBytes);
  std::vector<DiskLocator> told;
  sim.on_event = [&](const DiskEvent& event) {
    if (event.kind == DiskEventKind::kEntry) told.push_back(event.locator);
  };
  ASSERT_TRUE(sim.open());
  ASSERT_EQ(told.size(), 40U);
  std::set<std::uint32_t> segments;
  for (const DiskLocator& each : told) segments.insert(each.segment);
  ASSERT_GT(segments.size(), 2U);
  for (std::size_t i = 1; i < told.size(); ++i)
    EXPECT_GE(told[i - 1].generation() + 1, told[i].generation()) << "two footers are read at a time";
}

TEST(StoreOpen, BlankSuperblocksBeforeAnIntactSegmentAreNoNewStore) {
  SimDisk disk(1);
  make_store(disk);
  blank_superblocks(disk);
  expect_refusal(disk, small_sim_options(), Code::kInvalid,
                 "its superblocks are blank and its segments are not");
}

TEST(StoreOpen, AnotherProgramsFileIsRefused_D15) {
  for (const std::uint64_t offset : {std::uint64_t{0}, kSegmentsOffset, kSegmentsOffset + 128 * kKiB}) {
    SimDisk disk(1);
    disk.create("path0", kFileBytes);
    std::memcpy(bytes_at(disk, offset, 8).data(), "ext4 ...", 8);
    expect_refusal(disk, small_sim_options(), offset == 0 ? Code::kCorrupt : Code::kInvalid,
                   "Nothing was changed");
  }
}

TEST(StoreOpen, AnUnknownVersionIsRefusedInSuperblocksAndSegments_U07) {
  SimDisk disk(1);
  make_store(disk);
  const std::vector<std::byte> good = disk.image(disk.open("path0"));
  const auto make_newer = [&](std::uint64_t offset, std::uint64_t magic) {
    const std::span<std::byte> bytes = bytes_at(disk, offset, kSectorBytes);
    FormatPrefix prefix = read_prefix(bytes);
    prefix.version = kFormatVersion + 1;
    prefix.checksum = seal_checksum(magic, prefix.version, bytes.first(prefix.bytes));
    std::memcpy(bytes.data(), &prefix, sizeof prefix);
  };
  make_newer(2 * kSuperblockStrideBytes, kSuperblockMagic);
  expect_refusal(disk, small_sim_options(), Code::kVersion, "format version 2");
  disk.image(disk.open("path0")) = good;
  make_newer(kSegmentsOffset, kSegmentMagic);
  expect_refusal(disk, small_sim_options(), Code::kVersion, "another format version");
}

TEST(StoreOpen, WhoeverLookedBeforeMayRefuse) {
  SimDisk disk(1);
  make_store(disk);
  SimStoreOptions options = small_sim_options();
  options.store.refusal = {Code::kInvalid, "that was found before"};
  expect_refusal(disk, options, Code::kInvalid, "that was found before");
}

// What was there when it opened last, and no more than that.
TEST(StoreOpen, TheEndOfAFileThatIsGoneIsToldOnce) {
  PathFinding finding;
  finding.superblock.superblock = {.segment_bytes = kMiB, .segment_count = 8};
  finding.file.bytes = kSegmentsOffset + 8 * kMiB + 17;
  EXPECT_EQ(lost_bytes(finding), 0U);
  finding.file.bytes = kSegmentsOffset + 5 * kMiB;
  EXPECT_EQ(lost_bytes(finding), 3 * kMiB);
  finding.superblock.superblock.store = {{1, 2}};
  DiskStoreOptions options;
  options.home = HomePolicy::kMoved;
  const Result<StoreChoice> choice = choose_store({&finding, 1}, options, 0);
  ASSERT_TRUE(choice.is_ok()) << choice.status().to_string();
  EXPECT_EQ(choice.value().superblocks[0].segment_count, 5U);
}

TEST(StoreOpen, APathIsAddedAndAMissingOneLeavesTheOthers) {
  SimDisk disk(1);
  make_store(disk);
  {
    SimStore sim(disk, small_sim_options(), 2, kFileBytes);
    ASSERT_TRUE(sim.open()) << sim.store().status().to_string();
    EXPECT_EQ(sim.index().size(), 10U);
    for (std::uint64_t i = 10; i < 40; ++i) ASSERT_EQ(sim.put_one(sim_key(i)), Code::kOk);
    EXPECT_GT(sim.store().path(1).segments.live_count(), 0U) << "the new path takes blocks";
    EXPECT_EQ(sim.flush_now(), Code::kOk);
  }
  SimStore sim(disk, small_sim_options(), 1, kFileBytes);
  ASSERT_TRUE(sim.open()) << sim.store().status().to_string();
  EXPECT_GE(sim.index().size(), 10U);
  EXPECT_LT(sim.index().size(), 40U);
}

TEST(StoreOpen, F07_AMissingPathIsGivenUpWhenThatIsSaidAndIsRefusedWhenItComesBack) {
  SimDisk disk(1);
  make_store(disk, 3);
  SimStoreOptions options = small_sim_options();
  {
    SimStore sim(disk, options, 2, kFileBytes);
    ASSERT_TRUE(sim.open());
    EXPECT_TRUE(sim.store().is_path_missing());
    EXPECT_EQ(sim.store().paths_given_up(), 0U);
  }
  options.store.missing = MissingPolicy::kGiveUp;
  {
    SimStore sim(disk, options, 2, kFileBytes);
    ASSERT_TRUE(sim.open()) << sim.store().status().to_string();
    EXPECT_FALSE(sim.store().is_path_missing());
    EXPECT_EQ(sim.store().paths_given_up(), 1U);
  }
  {
    SimStore sim(disk, small_sim_options(), 2, kFileBytes);
    ASSERT_TRUE(sim.open());
    EXPECT_FALSE(sim.store().is_path_missing()) << "it stays given up";
    EXPECT_EQ(sim.store().paths_given_up(), 0U);
  }
  for (const SimStoreOptions& each : {small_sim_options(), options}) {
    const std::vector<std::byte> before = disk.image(disk.open("path2"));
    SimStore sim(disk, each, 3, kFileBytes);
    ASSERT_TRUE(sim.open()) << "the others serve";
    EXPECT_EQ(sim.store().path_state(2), PathState::kFailed);
    EXPECT_FALSE(sim.store().is_path_missing());
    EXPECT_TRUE(disk.image(disk.open("path2")) == before);
  }
  std::ranges::fill(disk.image(disk.open("path2")), std::byte{0});
  SimStore sim(disk, options, 3, kFileBytes);
  ASSERT_TRUE(sim.open()) << sim.store().status().to_string();
  EXPECT_EQ(sim.store().path(2).number, 3U) << "a new one: its number was another's";
  EXPECT_FALSE(sim.store().is_path_missing());
}

TEST(StoreOpen, NothingIsGivenUpWhileAPathCannotBeRead) {
  SimDisk disk(1);
  make_store(disk, 2);
  SimStoreOptions options = small_sim_options();
  options.store.missing = MissingPolicy::kGiveUp;
  {
    SimStore sim(disk, options, 2, kFileBytes);
    sim.faults().next({.fault = IoFault::kFail, .count = 1});
    ASSERT_TRUE(sim.open()) << sim.store().status().to_string();
    EXPECT_TRUE(sim.store().is_path_missing());
    EXPECT_EQ(sim.store().paths_given_up(), 0U);
  }
  SimStore sim(disk, options, 2, kFileBytes);
  ASSERT_TRUE(sim.open()) << sim.store().status().to_string();
  EXPECT_FALSE(sim.store().is_path_missing());
}

TEST(StoreOpen, APathThatCannotBeReadIsLeftOut) {
  SimDisk disk(1);
  make_store(disk, 2);
  SimStore sim(disk, small_sim_options(), 2, kFileBytes);
  sim.faults().next({.fault = IoFault::kFail, .count = 1});
  ASSERT_TRUE(sim.open()) << sim.store().status().to_string();
  EXPECT_EQ(sim.store().path_state(0), PathState::kFailed);
  EXPECT_EQ(sim.store().path_state(1), PathState::kOk);
  EXPECT_EQ(sim.put_one(sim_key(100)), Code::kOk);
}

TEST(StoreOpen, UsageIsKnownBeforeItIsReady_R04) {
  SimDisk disk(1);
  std::uint64_t used = 0;
  std::uint64_t live = 0;
  {
    SimStore sim(disk, small_sim_options(), 1, kFileBytes);
    ASSERT_TRUE(sim.open());
    for (std::uint64_t i = 0; i < 20; ++i) ASSERT_EQ(sim.put_one(sim_key(i)), Code::kOk);
    ASSERT_EQ(sim.flush_now(), Code::kOk);
    used = sim.store().used_bytes();
    live = sim.store().live_bytes();
  }
  SimStore sim(disk, small_sim_options(), 1, kFileBytes);
  ASSERT_TRUE(sim.open());
  EXPECT_EQ(sim.store().used_bytes(), used);
  EXPECT_EQ(sim.store().live_bytes(), live);
  EXPECT_GT(live, 20U * kSimBlockBytes);
  // Twice the capacity more: the file never grows.
  for (std::uint64_t i = 100; i < 300; ++i) ASSERT_EQ(sim.put_one(sim_key(i)), Code::kOk) << i;
  EXPECT_EQ(disk.image(disk.open("path0")).size(), kFileBytes);
  EXPECT_GT(sim.store().stats().segments_reclaimed, 5U);
}

TEST(StoreOpen, ACleanEndLeavesNothingToScan) {
  SimDisk disk(1);
  {
    SimStore sim(disk, small_sim_options(), 1, kFileBytes);
    ASSERT_TRUE(sim.open());
    ASSERT_EQ(sim.put_one(sim_key(1)), Code::kOk);
    sim.close();
    ASSERT_TRUE(sim.settle());
    EXPECT_EQ(sim.last(DiskEventKind::kClosed)->code, Code::kOk);
    EXPECT_EQ(sim.flush(), Code::kUnavailable);
    disk.power_cut();
  }
  SimStore sim(disk, small_sim_options(), 1, kFileBytes);
  ASSERT_TRUE(sim.open());
  EXPECT_TRUE(sim.store().was_closed());
  EXPECT_EQ(sim.store().stats().recovered_scans, 0U);
  EXPECT_EQ(sim.store().stats().recovered_footers, 1U);
  EXPECT_EQ(sim.read(sim_key(1)), Code::kOk);
}

}  // namespace
}  // namespace kvtier::test
