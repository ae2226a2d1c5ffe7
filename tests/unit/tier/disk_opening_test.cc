// Real folders, real rings, real threads.

#include "daemon/tier/disk_opening.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "daemon/disk/format_seal.h"
#include "daemon/tier/space_format.h"
#include "tests/unit/tier/tier_folders.h"

namespace kvtier::test {
namespace {

class NvmeTierThreads : public ::testing::TestWithParam<IoEngine> {};

TEST_P(NvmeTierThreads, BlocksAreThereAfterACleanEndAndReadByAnotherLife) {
  constexpr std::uint64_t kBlocks = 600;
  const ScratchDir dir;
  const std::vector<std::string> folders = {make_folder(dir, "a"), make_folder(dir, "b")};
  {
    RunningTier life(options_of(folders, GetParam()));
    ASSERT_NE(life.opening().tier, nullptr) << life.opening().status.to_string();
    EXPECT_TRUE(life.tier().take_known_spaces().empty());
    life.open();
    for (std::uint64_t i = 0; i < kBlocks; ++i) {
      const auto at = static_cast<std::uint32_t>(i);
      fill_pattern(pattern_key(1, i), life.slot(at).first(kWorldBlockBytes));
      DiskCommand put = life.command(DiskCommandKind::kPut, i, at);
      put.is_group_end = i % 20 == 19;
      life.send(put);
    }
    const auto is_put = [](const DiskNews& each) { return each.kind == DiskNewsKind::kPut; };
    while (std::ranges::count_if(life.news, is_put) < static_cast<std::ptrdiff_t>(kBlocks))
      life.receive_one();
    for (const DiskNews& each : life.news) EXPECT_EQ(each.code, Code::kOk);
    life.close();
  }
  RunningTier life(options_of(folders, GetParam()));
  ASSERT_NE(life.opening().tier, nullptr) << life.opening().status.to_string();
  ASSERT_EQ(life.tier().take_known_spaces().size(), 1U);
  life.open();
  const std::vector<DiskNews> entries = life.news;
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < kBlocks; ++i) {
    const auto entry = std::ranges::find_if(entries, [&](const DiskNews& each) {
      return each.kind == DiskNewsKind::kEntry && each.key == pattern_key(1, i);
    });
    if (entry == entries.end()) continue;
    DiskCommand get = life.command(DiskCommandKind::kGet, i, static_cast<std::uint32_t>(i % 1000));
    get.locator = entry->locator;
    life.send(get);
    const DiskNews answer = life.wait_for(DiskNewsKind::kGet);
    EXPECT_EQ(answer.code, Code::kOk);
    const std::span<const std::byte> bytes =
        life.slot(static_cast<std::uint32_t>(i % 1000)).first(kWorldBlockBytes);
    EXPECT_EQ(check_pattern(pattern_key(1, i), bytes), bytes.size());
    ++found;
  }
  EXPECT_EQ(found, kBlocks);
}

INSTANTIATE_TEST_SUITE_P(Engines, NvmeTierThreads, ::testing::Values(IoEngine::kPosix, IoEngine::kAuto),
                         [](const auto& each) { return each.param == IoEngine::kPosix ? "posix" : "auto"; });

TEST(DiskOpening, AFolderThatDoesNotOpenDoesNotStopTheOthers) {
  const ScratchDir dir;
  const std::string good = make_folder(dir, "good");
  const DiskOpening opening = DiskOpening::open(options_of({dir.file("missing"), good}));
  ASSERT_NE(opening.tier, nullptr);
  EXPECT_TRUE(opening.status.is_ok());
  EXPECT_FALSE(opening.facts.paths[0].is_open);
  EXPECT_NE(opening.facts.paths[0].cause.find("missing"), std::string::npos) << opening.facts.paths[0].cause;
  EXPECT_TRUE(opening.facts.paths[1].is_open);
  EXPECT_EQ(opening.facts.paths[1].bytes, 33 * kMiB);
  EXPECT_EQ(opening.facts.opened, std::vector<std::size_t>{1});
  EXPECT_EQ(opening.facts.engine.value, "posix");
  EXPECT_EQ(opening.tier->snapshot().read().path_count, 1U);
  EXPECT_FALSE(std::filesystem::exists(dir.file("missing")));
}

TEST(DiskOpening, WithoutAnyFolderThereIsNoTierAndACause) {
  const ScratchDir dir;
  const DiskOpening opening = DiskOpening::open(options_of({dir.file("missing")}));
  EXPECT_EQ(opening.tier, nullptr);
  EXPECT_EQ(opening.status.code(), Code::kUnavailable);
  EXPECT_FALSE(opening.status.message().empty());
}

TEST(DiskOpening, AFolderInUseSaysByWhom) {
  const ScratchDir dir;
  const std::string folder = make_folder(dir, "a");
  const DiskOpening first = DiskOpening::open(options_of({folder}));
  ASSERT_NE(first.tier, nullptr);
  const DiskOpening second = DiskOpening::open(options_of({folder}));
  EXPECT_EQ(second.tier, nullptr);
  EXPECT_NE(second.status.message().find("pid 17, socket S"), std::string::npos) << second.status.message();
}

TEST(DiskOpening, ASpacesFileOfAnotherVersionLeavesItsPathOutUntouched) {
  const ScratchDir dir;
  const std::string old_folder = make_folder(dir, "old");
  const std::string good = make_folder(dir, "good");
  std::vector<std::byte> header = encode_spaces_header();
  FormatPrefix prefix = read_prefix(header);
  prefix.version = kFormatVersion + 1;
  prefix.checksum = seal_checksum(kSpacesMagic, prefix.version, header);
  std::memcpy(header.data(), &prefix, sizeof prefix);
  std::ofstream(old_folder + "/" + kSpacesFileName, std::ios::binary)
      .write(reinterpret_cast<const char*>(header.data()), static_cast<std::streamsize>(header.size()));
  const DiskOpening opening = DiskOpening::open(options_of({old_folder, good}));
  ASSERT_NE(opening.tier, nullptr);
  EXPECT_FALSE(opening.facts.paths[0].is_open);
  EXPECT_NE(opening.facts.paths[0].cause.find("version"), std::string::npos);
  EXPECT_EQ(opening.facts.opened, std::vector<std::size_t>{1});
}

// A file that was larger than the path may be was cut, a smaller one grew, before anybody looked whose it is.
TEST(DiskOpening, AForeignFileKeepsItsSizeAndContent_D15) {
  for (const std::uint64_t bytes : {std::uint64_t{15}, 40 * kMiB}) {
    for (const HomePolicy home : {HomePolicy::kRefuse, HomePolicy::kFresh}) {
      const ScratchDir dir;
      NvmeTierOptions options = options_of({make_foreign(dir, bytes), make_folder(dir, "new")});
      options.home = home;
      expect_shut(dir, options, "no store of this program");
    }
  }
}

TEST(DiskOpening, FilesOfTwoStoresKeepTheirSizesAndNoneIsMade_D15) {
  const ScratchDir dir;
  const std::vector<std::string> folders = {make_store(dir, "a"), make_store(dir, "b"),
                                            make_folder(dir, "new")};
  NvmeTierOptions options = options_of(folders);
  for (DiskFolder& path : options.paths) path.bytes = 50 * kMiB;
  expect_shut(dir, options, "it belongs to another store");
}

TEST(DiskOpening, WhatFindsNoRoomLeavesNothing) {
  const ScratchDir dir;
  NvmeTierOptions options = options_of({make_folder(dir, "a")});
  options.headroom_bytes = 1ULL << 60;
  const DiskOpening opening = DiskOpening::open(options);
  EXPECT_EQ(opening.tier, nullptr);
  EXPECT_TRUE(files_below(dir.path()).empty());
}

TEST(DiskOpening, FreshKeepsAStoreThatIsAtHomeAndEmptiesACopy_D15) {
  const ScratchDir dir;
  NvmeTierOptions options = options_of({make_store(dir, "a")});
  options.home = HomePolicy::kFresh;
  for (int start = 0; start < 2; ++start) EXPECT_EQ(count_entries(options), 1U);
  std::filesystem::copy(dir.file("a"), dir.file("copy"), std::filesystem::copy_options::recursive);
  options = options_of({dir.file("copy")});
  expect_shut(dir, options, "it may be a copy");
  options.home = HomePolicy::kFresh;
  options.paths[0].bytes = 25 * kMiB;  // smaller than what is given up
  {
    DiskOpening opening = DiskOpening::open(options);
    ASSERT_NE(opening.tier, nullptr);
    EXPECT_EQ(opening.facts.paths[0].given_up_bytes, 33 * kMiB);
    EXPECT_EQ(opening.facts.paths[0].bytes, 25 * kMiB);
  }
  EXPECT_EQ(count_entries(options), 0U);
  options.home = HomePolicy::kRefuse;
  RunningTier life(options);
  life.open();
  life.close();
  EXPECT_EQ(life.tier().snapshot().read().paths[0].used_bytes, 0U) << "nothing of the old one is counted";
}

// A copy beside a path of the store: it alone begins anew.
TEST(DiskOpening, FreshGivesUpTheCopyAndKeepsThePathBesideIt_D15) {
  const ScratchDir dir;
  const std::string home = make_store(dir, "a");
  make_store(dir, "b");
  std::filesystem::copy(dir.file("b"), dir.file("copy"), std::filesystem::copy_options::recursive);
  NvmeTierOptions options = options_of({home, dir.file("copy")});
  options.home = HomePolicy::kFresh;
  EXPECT_EQ(count_entries(options), 1U);
  options.home = HomePolicy::kRefuse;
  EXPECT_EQ(count_entries(options), 1U) << "both are of one store now";
}

// It grew back with zeros, and nobody was told that blocks were gone.
TEST(DiskOpening, AFileThatWasCutIsSaidOnce_D11) {
  for (const std::uint64_t bytes : {std::uint64_t{1000}, 20 * kMiB}) {
    const ScratchDir dir;
    const NvmeTierOptions options = options_of({make_store(dir, "a")});
    std::filesystem::resize_file(dir.file("a/kvtier.data"), bytes);
    {
      RunningTier life(options);
      const DiskPathFacts& path = life.opening().facts.paths[0];
      ASSERT_NE(life.opening().tier, nullptr);
      EXPECT_EQ(path.bytes, 33 * kMiB);
      EXPECT_EQ(path.lost_bytes, 33 * kMiB - bytes);
      EXPECT_TRUE(path.is_short);
      EXPECT_NE(short_path_text(path).find("something other than kvtierd cut"), std::string::npos);
      life.open();
      life.close();
    }
    const DiskOpening next = DiskOpening::open(options);
    EXPECT_EQ(next.facts.paths[0].lost_bytes, 0U);
    EXPECT_FALSE(next.facts.paths[0].is_short);
  }
}

// Without its line in the settings the default was asked for, and the store was left out: no room.
TEST(DiskOpening, AStoreThatIsThereHasItsOwnSegments) {
  const ScratchDir dir;
  NvmeTierOptions options = options_of({make_store(dir, "a")});
  options.segment_bytes = 256 * kMiB;
  options.headroom_bytes = 1ULL << 60;
  options.paths[0].bytes = 10 * kGiB;
  EXPECT_EQ(count_entries(options), 1U);
  EXPECT_EQ(std::filesystem::file_size(dir.file("a/kvtier.data")), 33 * kMiB);
}

TEST(DiskOpening, OneFolderByTwoNamesIsOnePath_D15) {
  const ScratchDir dir;
  const std::string folder = make_folder(dir, "a");
  std::filesystem::create_directory_symlink(folder, dir.file("link"));
  const DiskOpening opening = DiskOpening::open(options_of({folder, dir.file("link")}));
  ASSERT_NE(opening.tier, nullptr);
  EXPECT_EQ(opening.facts.opened, std::vector<std::size_t>{0});
  EXPECT_NE(opening.facts.paths[1].cause.find("is the same folder as nvme.paths[0], " + folder),
            std::string::npos)
      << opening.facts.paths[1].cause;
}

TEST(DiskOpening, DirectUseIsWhatItSays) {
  const ScratchDir dir;
  NvmeTierOptions options = options_of({make_folder(dir, "a")});
  options.direct = DirectUse::kOff;
  {
    const DiskOpening opening = DiskOpening::open(options);
    ASSERT_NE(opening.tier, nullptr);
    EXPECT_FALSE(opening.facts.paths[0].direct.value);
    EXPECT_EQ(opening.facts.paths[0].alignment, 1U);
  }
  options.direct = DirectUse::kOn;
  const DiskOpening opening = DiskOpening::open(options);
  const DiskPathFacts& path = opening.facts.paths[0];
  EXPECT_EQ(path.is_open, path.direct.value);  // a file system without it is left out
  EXPECT_EQ(path.is_open, path.cause.find("O_DIRECT") == std::string::npos) << path.cause;
}

TEST(DiskOpening, TheBudgetHasTwoShares) {
  const BudgetShares shares = share_budget(96 * kGiB);
  EXPECT_EQ(shares.puts.bytes_per_day, 72 * kGiB);
  EXPECT_EQ(shares.puts.burst_bytes, 3 * kGiB);
  EXPECT_EQ(shares.moves.bytes_per_day, 24 * kGiB);
  EXPECT_EQ(share_budget(0).puts.bytes_per_day, WriteBudgetOptions{}.bytes_per_day);
}

}  // namespace
}  // namespace kvtier::test
