// What a store opens, what it refuses, and that a refusal writes nothing.

#include <gtest/gtest.h>

#include <cstring>
#include <optional>

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

Superblock superblock_of(SimDisk& disk, std::size_t path = 0) {
  SuperblockCopies copies;
  for (std::uint32_t i = 0; i < kSuperblockCopies; ++i)
    copies[i] = bytes_at(disk, i * kSuperblockStrideBytes, kHeaderBytesMax, path);
  return choose_superblock(copies).value().superblock;
}

void set_superblock(SimDisk& disk, const Superblock& block, std::size_t path = 0) {
  for (std::uint32_t i = 0; i < kSuperblockCopies; ++i) {
    const SuperblockBytes bytes = encode_superblock(block, i);
    std::memcpy(bytes_at(disk, i * kSuperblockStrideBytes, bytes.size(), path).data(), bytes.data(),
                bytes.size());
  }
}

// Homes of SimStore's files are what its options say: what was made elsewhere says another one.
TEST(StoreOpen, ACopyIsRefusedAndTakenWithAFreshIdentityOnly_D15) {
  SimDisk disk(1);
  make_store(disk);
  Superblock block = superblock_of(disk);
  block.home_inode = 4711;
  set_superblock(disk, block);
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

/// The home that its superblocks name, after a start that says so; none: it was refused.
std::optional<FileHome> home_after_start(SimDisk& disk, const FileHome& here) {
  SimStoreOptions options = small_sim_options();
  options.home = here;
  SimStore sim(disk, options, 1, kFileBytes);
  if (!sim.open()) return std::nullopt;
  EXPECT_EQ(sim.index().size(), 10U);
  const Superblock block = superblock_of(disk);
  return FileHome{block.home_inode, block.home_birth_ns, block.home_fsid};
}

// A freed inode is the next file's, and on a fresh file system the first ones are what they are on each: a copy may have it.
TEST(StoreOpen, AHomeIsToldByItsTimeOfBirthAndNotByItsInodeAlone_D15) {
  SimDisk disk(1);
  make_store(disk);  // inode 1, born at 7, file system 9
  EXPECT_FALSE(home_after_start(disk, {.inode = 1, .birth_ns = 8, .fsid = 9}).has_value());
  EXPECT_FALSE(home_after_start(disk, {.inode = 2, .birth_ns = 7, .fsid = 9}).has_value());
  EXPECT_TRUE(home_after_start(disk, {.inode = 1, .birth_ns = 7, .fsid = 9}).has_value());
}

// On XFS the file system's id is the number of its device.
TEST(StoreOpen, ADeviceWithAnotherNumberIsTheSameHome) {
  SimDisk disk(1);
  make_store(disk);
  const std::optional<FileHome> home = home_after_start(disk, {.inode = 1, .birth_ns = 7, .fsid = 10});
  ASSERT_TRUE(home.has_value());
  EXPECT_EQ(home->fsid, 10U) << "as it is now";
}

// Superblocks of before the time of birth was noted, and file systems that do not say it: inode and file system.
TEST(StoreOpen, WithoutATimeOfBirthTheFileSystemsIdCounts_D15) {
  SimDisk disk(1);
  make_store(disk);
  Superblock block = superblock_of(disk);
  block.home_birth_ns = 0;
  set_superblock(disk, block);
  EXPECT_FALSE(home_after_start(disk, {.inode = 1, .birth_ns = 7, .fsid = 10}).has_value());
  EXPECT_FALSE(home_after_start(disk, {.inode = 2, .birth_ns = 7, .fsid = 9}).has_value());
  EXPECT_FALSE(home_after_start(disk, {.inode = 1, .fsid = 10}).has_value());
  std::optional<FileHome> home = home_after_start(disk, {.inode = 1, .fsid = 9});
  ASSERT_TRUE(home.has_value());
  EXPECT_EQ(home->birth_ns, 0U);
  home = home_after_start(disk, {.inode = 1, .birth_ns = 7, .fsid = 9});
  ASSERT_TRUE(home.has_value());
  EXPECT_EQ(home->birth_ns, 7U) << "noted from now on";
  EXPECT_TRUE(home_after_start(disk, {.inode = 1, .birth_ns = 7, .fsid = 10}).has_value());
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

/// The file of a path is that of another store's.
void put_other_store(SimDisk& disk, std::size_t path) {
  SimDisk other(2);
  SimStoreOptions options = small_sim_options();
  options.store.fresh_store = {{5, 6}};
  ASSERT_TRUE(SimStore(other, options, path + 1, kFileBytes).open());
  const std::string name = "path" + std::to_string(path);
  if (disk.open(name) < 0) disk.create(name, kFileBytes);
  disk.image(disk.open(name)) = other.image(other.open(name));
}

TEST(StoreOpen, OfTwoStoresWithAsManyPathsNoneIsTaken) {
  SimDisk disk(1);
  make_store(disk);
  put_other_store(disk, 1);
  expect_refusal(disk, small_sim_options(), Code::kInvalid, "path 1: it belongs to another store than path 0",
                 2);
}

using Damage = void (*)(SimDisk& disk);
struct BadPath {
  const char* name;
  Damage damage;  ///< of path 1
  Code code;      ///< what it is refused with where nothing else is there
};

const BadPath kBadPaths[] = {
    {"damaged",
     [](SimDisk& disk) {
       for (std::uint64_t copy = 0; copy < kSuperblockCopies; ++copy)
         bytes_at(disk, copy * kSuperblockStrideBytes + 100, 1, 1)[0] ^= std::byte{1};
     },
     Code::kCorrupt},
    {"blank",
     [](SimDisk& disk) {
       for (std::uint64_t copy = 0; copy < kSuperblockCopies; ++copy)
         std::ranges::fill(bytes_at(disk, copy * kSuperblockStrideBytes, kHeaderBytesMax, 1), std::byte{0});
     },
     Code::kInvalid},
    {"foreign",
     [](SimDisk& disk) { std::ranges::fill(bytes_at(disk, 0, kSegmentsOffset, 1), std::byte{'x'}); },
     Code::kInvalid},
    {"newer",
     [](SimDisk& disk) {
       const std::span<std::byte> bytes = bytes_at(disk, 0, kSectorBytes, 1);
       FormatPrefix prefix = read_prefix(bytes);
       prefix.version = kFormatVersion + 1;
       prefix.checksum = seal_checksum(kSuperblockMagic, prefix.version, bytes.first(prefix.bytes));
       std::memcpy(bytes.data(), &prefix, sizeof prefix);
     },
     Code::kVersion},
    {"copied",
     [](SimDisk& disk) {
       Superblock block = superblock_of(disk, 1);
       block.home_inode = 4711;
       set_superblock(disk, block, 1);
     },
     Code::kInvalid},
    {"anothers", [](SimDisk& disk) { put_other_store(disk, 1); }, Code::kOk},
};

class StoreOpenBeside : public ::testing::TestWithParam<BadPath> {};

// The whole store stayed shut for each of them.
TEST_P(StoreOpenBeside, APathThatIsNotUnderstoodStaysAsItIsAndTheOthersServe) {
  SimDisk disk(1);
  make_store(disk, 3);
  GetParam().damage(disk);
  const std::vector<std::byte> before = disk.image(disk.open("path1"));
  SimStoreOptions options = small_sim_options();
  options.store.missing = MissingPolicy::kGiveUp;
  {
    SimStore sim(disk, options, 3, kFileBytes);
    ASSERT_TRUE(sim.open()) << sim.store().status().to_string();
    EXPECT_EQ(sim.store().path_state(0), PathState::kOk);
    EXPECT_EQ(sim.store().path_state(1), PathState::kFailed);
    EXPECT_TRUE(sim.store().is_path_missing()) << "its marks stay";
    EXPECT_EQ(sim.store().paths_given_up(), 0U) << "it is here";
    for (std::uint64_t i = 100; i < 160; ++i) ASSERT_EQ(sim.put_one(sim_key(i)), Code::kOk);
    EXPECT_EQ(sim.read(sim_key(159)), Code::kOk);
    sim.close();
    ASSERT_TRUE(sim.settle());
  }
  EXPECT_TRUE(disk.image(disk.open("path1")) == before) << "not a byte of it is another";
}

// What was invalidated while it was out is invalidated there too, however much was reclaimed meanwhile.
TEST_P(StoreOpenBeside, WhatWasInvalidatedMeanwhileDoesNotComeBackWithIt) {
  SimDisk disk(1);
  {
    SimStore sim(disk, small_sim_options(), 3, kFileBytes);
    ASSERT_TRUE(sim.open());
    for (std::uint64_t i = 0; i < 12; ++i) ASSERT_EQ(sim.put_one(sim_key(i)), Code::kOk);
    ASSERT_EQ(sim.flush_now(), Code::kOk);
    ASSERT_GT(sim.store().path(1).segments.live_count(), 0U);
  }
  const std::vector<std::byte> whole = disk.image(disk.open("path1"));
  GetParam().damage(disk);
  {
    SimStore sim(disk, small_sim_options(), 3, kFileBytes);
    ASSERT_TRUE(sim.open()) << sim.store().status().to_string();
    DiskKey all = sim_key(0);
    all.space = Digest{};
    all.key = Key{};
    ASSERT_EQ(sim.mark_now(all), Code::kOk);
    for (std::uint64_t i = 0; i < 12; ++i) sim.evict(sim_key(i));  // nothing older is left here
    for (std::uint64_t i = 100; i < 500; ++i) ASSERT_EQ(sim.put_one(sim_key(i)), Code::kOk);
    EXPECT_GT(sim.store().stats().segments_reclaimed, 5U);
    sim.close();
    ASSERT_TRUE(sim.settle());
  }
  disk.image(disk.open("path1")) = whole;
  SimStore sim(disk, small_sim_options(), 3, kFileBytes);
  ASSERT_TRUE(sim.open()) << sim.store().status().to_string();
  EXPECT_EQ(sim.store().path_state(1), PathState::kOk);
  EXPECT_FALSE(sim.store().is_path_missing());
  for (std::uint64_t i = 0; i < 12; ++i) EXPECT_FALSE(sim.find(sim_key(i)).has_value()) << i;
}

INSTANTIATE_TEST_SUITE_P(Path, StoreOpenBeside, ::testing::ValuesIn(kBadPaths),
                         [](const auto& each) { return std::string(each.param.name); });

PathFinding finding_of(std::uint32_t path, std::uint32_t path_count, std::uint64_t store = 1) {
  PathFinding finding;
  finding.superblock.superblock = {.store = {{store, 2}},
                                   .path = path,
                                   .path_count = path_count,
                                   .segment_bytes = kMiB,
                                   .segment_count = 8};
  finding.file.bytes = kSegmentsOffset + 8 * kMiB;
  return finding;
}

// A crash may come before all of the others know of a path.
TEST(StoreOpen, WhatIsNotUnderstoodCountsAsMissingAndAnothersPathDoesNot) {
  std::array findings = {finding_of(0, 1), PathFinding{.status = {Code::kCorrupt, "damaged"}}};
  DiskStoreOptions options;
  Result<StoreChoice> choice = choose_store(findings, options, 0);
  ASSERT_TRUE(choice.is_ok()) << choice.status().to_string();
  EXPECT_TRUE(choice.value().is_path_missing);
  EXPECT_FALSE(choose_store(std::span(findings).first(1), options, 0).value().is_path_missing);
  options.is_path_left_out = true;  // before
  EXPECT_TRUE(choose_store(std::span(findings).first(1), options, 0).value().is_path_missing);
  options.is_path_left_out = false;
  const std::array others = {finding_of(0, 2), finding_of(0, 1, 7), finding_of(1, 2)};
  choice = choose_store(others, options, 0);
  ASSERT_TRUE(choice.is_ok()) << choice.status().to_string();
  EXPECT_FALSE(choice.value().is_path_missing);
  EXPECT_EQ(choice.value().superblocks.size(), 2U);
  EXPECT_NE(choice.value().verdicts[1].message().find("another store than path 0, which has more"),
            std::string::npos);
}

TEST(StoreOpen, PathsThatRanApartAndTwinsStayShut) {
  std::array findings = {finding_of(0, 2), finding_of(1, 2)};
  findings[0].superblock.superblock.given_up = 2;
  findings[1].superblock.superblock.given_up = 1;
  Result<StoreChoice> choice = choose_store(findings, {}, 0);
  EXPECT_NE(choice.status().message().find("it was given up"), std::string::npos) << "each by the other";
  findings[1] = finding_of(0, 2);
  choice = choose_store(findings, {}, 0);
  EXPECT_NE(choice.status().message().find("path 1: it is the same path as path 0"), std::string::npos);
}

TEST(StoreOpen, WithoutAPathThatHasAStoreNoneIsMadeBesideWhatIsNotUnderstood_D15) {
  for (const BadPath& bad : kBadPaths) {
    if (bad.code == Code::kOk) continue;  // a store, if not this one
    SimDisk disk(1);
    make_store(disk, 2);
    bad.damage(disk);
    std::ranges::fill(disk.image(disk.open("path0")), std::byte{0});
    expect_refusal(disk, small_sim_options(), bad.code, "Nothing was changed", 2);
  }
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
