// Which paths of a store open together: what is not understood stays as it is, and the others serve.

#include <gtest/gtest.h>

#include <array>

#include "daemon/disk/format_seal.h"
#include "daemon/disk/store_choice.h"
#include "tests/unit/disk/store_images.h"

namespace kvtier::test {
namespace {

TEST(JudgePaths, OfTwoStoresWithAsManyPathsNoneIsTaken) {
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

class JudgePathsBeside : public ::testing::TestWithParam<BadPath> {};

// The whole store stayed shut for each of them.
TEST_P(JudgePathsBeside, APathThatIsNotUnderstoodStaysAsItIsAndTheOthersServe) {
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
TEST_P(JudgePathsBeside, WhatWasInvalidatedMeanwhileDoesNotComeBackWithIt) {
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

INSTANTIATE_TEST_SUITE_P(Path, JudgePathsBeside, ::testing::ValuesIn(kBadPaths),
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
TEST(JudgePaths, WhatIsNotUnderstoodCountsAsMissingAndAnothersPathDoesNot) {
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

TEST(JudgePaths, PathsThatRanApartAndTwinsStayShut) {
  std::array findings = {finding_of(0, 2), finding_of(1, 2)};
  findings[0].superblock.superblock.given_up = 2;
  findings[1].superblock.superblock.given_up = 1;
  Result<StoreChoice> choice = choose_store(findings, {}, 0);
  EXPECT_NE(choice.status().message().find("it was given up"), std::string::npos) << "each by the other";
  findings[1] = finding_of(0, 2);
  choice = choose_store(findings, {}, 0);
  EXPECT_NE(choice.status().message().find("path 1: it is the same path as path 0"), std::string::npos);
}

TEST(JudgePaths, WithoutAPathThatHasAStoreNoneIsMadeBesideWhatIsNotUnderstood_D15) {
  for (const BadPath& bad : kBadPaths) {
    if (bad.code == Code::kOk) continue;  // a store, if not this one
    SimDisk disk(1);
    make_store(disk, 2);
    bad.damage(disk);
    std::ranges::fill(disk.image(disk.open("path0")), std::byte{0});
    expect_refusal(disk, small_sim_options(), bad.code, "Nothing was changed", 2);
  }
}

}  // namespace
}  // namespace kvtier::test
