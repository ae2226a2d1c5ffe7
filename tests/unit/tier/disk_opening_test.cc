// Real folders, real rings, real threads.

#include "daemon/tier/disk_opening.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "daemon/disk/format_seal.h"
#include "daemon/tier/space_format.h"
#include "tests/unit/tier/running_tier.h"

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
