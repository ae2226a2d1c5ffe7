// What a store opens, what it refuses, and that a refusal writes nothing.

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "daemon/disk/format_seal.h"
#include "tests/support/sim_store.h"

namespace kvtier::test {
namespace {

constexpr std::uint64_t kFileBytes = kSegmentsOffset + 8 * 128 * kKiB;

/// A disk with a store of ten blocks on so many paths, which ended as a kill leaves it.
void make_store(SimDisk& disk, std::size_t paths = 1) {
  SimStore sim(disk, small_sim_options(), paths, kFileBytes);
  ASSERT_TRUE(sim.open()) << sim.store().status().to_string();
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_EQ(sim.put_one(sim_key(i)), Code::kOk);
  ASSERT_EQ(sim.flush_now(), Code::kOk);
}

/// Opens, expects a refusal with these words, and that not a byte of the disk is another.
void expect_refusal(SimDisk& disk, const SimStoreOptions& options, Code code, const std::string& words,
                    std::size_t paths = 1) {
  std::vector<std::vector<std::byte>> before;
  for (std::size_t i = 0; i < paths; ++i) before.push_back(disk.image(disk.open("path" + std::to_string(i))));
  SimStore sim(disk, options, paths, kFileBytes);
  EXPECT_FALSE(sim.open());
  EXPECT_EQ(sim.store().status().code(), code) << sim.store().status().to_string();
  EXPECT_NE(sim.store().status().message().find(words), std::string::npos)
      << sim.store().status().to_string();
  const DiskPut put{.key = sim_key(1)};
  EXPECT_EQ(sim.store().put({&put, 1}), Code::kUnavailable);
  for (std::size_t i = 0; i < paths; ++i) {
    const auto& image = disk.image(disk.open("path" + std::to_string(i)));
    EXPECT_EQ(std::memcmp(image.data(), before[i].data(), image.size()), 0) << "path " << i << " was written";
  }
}

std::span<std::byte> bytes_at(SimDisk& disk, std::uint64_t offset, std::uint64_t count,
                              std::size_t path = 0) {
  return std::span(disk.image(disk.open("path" + std::to_string(path)))).subspan(offset, count);
}

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

// The inode and file system of SimStore's files are fixed: what was made elsewhere says others.
TEST(StoreOpen, ACopyIsRefusedAndTakenWithAFreshIdentityOnly_D15) {
  SimDisk disk(1);
  make_store(disk);
  SuperblockCopies copies;
  for (std::uint32_t i = 0; i < kSuperblockCopies; ++i)
    copies[i] = bytes_at(disk, i * kSuperblockStrideBytes, kHeaderBytesMax);
  Superblock block = choose_superblock(copies).value().superblock;
  block.home_inode = 4711;
  for (std::uint32_t i = 0; i < kSuperblockCopies; ++i) {
    const SuperblockBytes bytes = encode_superblock(block, i);
    std::memcpy(bytes_at(disk, i * kSuperblockStrideBytes, bytes.size()).data(), bytes.data(), bytes.size());
  }
  const std::vector<std::byte> copied = disk.image(disk.open("path0"));
  expect_refusal(disk, small_sim_options(), Code::kInvalid, "its file was made elsewhere");
  SimStoreOptions options = small_sim_options();
  options.store.home = HomePolicy::kMoved;
  {
    SimStore sim(disk, options, 1, kFileBytes);
    ASSERT_TRUE(sim.open()) << sim.store().status().to_string();
    EXPECT_EQ(sim.index().size(), 10U);
    EXPECT_EQ(sim.read(sim_key(3)), Code::kOk);
  }
  EXPECT_TRUE(SimStore(disk, small_sim_options(), 1, kFileBytes).open()) << "its home is here now";
  disk.image(disk.open("path0")) = copied;
  // Its owner empties a file that is given up; one that was not is refused.
  options.store.home = HomePolicy::kFresh;
  options.store.fresh_store = {{77, 88}};
  expect_refusal(disk, options, Code::kInvalid, "its file was made elsewhere");
  std::ranges::fill(disk.image(disk.open("path0")), std::byte{0});
  {
    SimStore sim(disk, options, 1, kFileBytes);
    ASSERT_TRUE(sim.open()) << sim.store().status().to_string();
    EXPECT_EQ(sim.index().size(), 0U) << "the blocks are the original's";
    EXPECT_EQ(sim.store().used_bytes(), 0U);
    for (std::uint64_t i = 100; i < 160; ++i) ASSERT_EQ(sim.put_one(sim_key(i)), Code::kOk);
    EXPECT_EQ(sim.flush_now(), Code::kOk);
  }
  // A store that lies where it was made is kept, at every start.
  {
    SimStore again(disk, options, 1, kFileBytes);
    ASSERT_TRUE(again.open()) << again.store().status().to_string();
    EXPECT_TRUE(again.find(sim_key(159)).has_value());
  }
  SimStore sim(disk, small_sim_options(), 1, kFileBytes);
  ASSERT_TRUE(sim.open());
  EXPECT_FALSE(sim.find(sim_key(3)).has_value());
  EXPECT_EQ(sim.read(sim_key(159)), Code::kOk);
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

TEST(StoreOpen, PathsOfTwoStoresAreRefused) {
  SimDisk disk(1);
  make_store(disk);
  SimDisk other(2);
  SimStoreOptions options = small_sim_options();
  options.store.fresh_store = {{5, 6}};
  ASSERT_TRUE(SimStore(other, options, 2, kFileBytes).open());
  disk.create("path1", kFileBytes);
  disk.image(disk.open("path1")) = other.image(other.open("path1"));
  expect_refusal(disk, small_sim_options(), Code::kInvalid, "another store", 2);
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
  expect_refusal(disk, small_sim_options(), Code::kInvalid, "path 2: it was given up", 3);
  expect_refusal(disk, options, Code::kInvalid, "path 2: it was given up", 3);
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
