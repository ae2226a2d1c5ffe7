// A path that is not understood is left out of a tier in real folders, as it is, and the others serve.

#include <gtest/gtest.h>

#include "tests/unit/tier/tier_folders.h"

namespace kvtier::test {
namespace {

/// A store of that many paths in "a", "b", ..., ended cleanly.
std::vector<std::string> make_paths(const ScratchDir& dir, std::size_t count) {
  std::vector<std::string> folders;
  for (std::size_t i = 0; i < count; ++i)
    folders.push_back(make_folder(dir, std::string(1, static_cast<char>('a' + i))));
  RunningTier life(options_of(folders));
  life.open();
  life.close();
  return folders;
}

void flip(const std::string& file, std::uint64_t offset) {
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekg(static_cast<std::streamoff>(offset));
  const int old = bytes.get();
  bytes.seekp(static_cast<std::streamoff>(offset));
  bytes.put(static_cast<char>(old ^ 1));
}

void flip_superblocks(const std::string& folder) {
  for (std::uint64_t copy = 0; copy < kSuperblockCopies; ++copy)
    flip(folder + "/" + kStoreFileName, copy * kSuperblockStrideBytes + 100);
}

/// Opens, expects that the path is left out with these words, that the others serve, and that nothing below its folder is
/// another.
void expect_left_out(const NvmeTierOptions& options, std::size_t path, const std::string& words) {
  const std::string& folder = options.paths[path].folder;
  const auto before = files_below(folder);
  {
    RunningTier life(options);
    ASSERT_NE(life.opening().tier, nullptr) << life.opening().status.to_string();
    const DiskPathFacts& facts = life.opening().facts.paths[path];
    EXPECT_FALSE(facts.is_open);
    EXPECT_NE(facts.cause.find("nvme.paths[" + std::to_string(path) + "]: " + folder), std::string::npos)
        << facts.cause;
    EXPECT_NE(facts.cause.find(words), std::string::npos) << facts.cause;
    EXPECT_NE(facts.cause.find("; then restart kvtierd"), std::string::npos) << facts.cause;
    EXPECT_EQ(life.opening().facts.opened.size(), options.paths.size() - 1);
    life.open();
    put_one(life, 7);
    life.close();
    EXPECT_EQ(life.tier().snapshot().read().paths_given_up, 0U);
  }
  EXPECT_EQ(files_below(folder), before);
}

// All of them stayed shut for one.
TEST(PathSet, APathWithDamagedSuperblocksIsLeftOutAndComesBackRepaired) {
  const ScratchDir dir;
  NvmeTierOptions options = options_of(make_paths(dir, 2));
  options.missing = MissingPolicy::kGiveUp;
  flip_superblocks(dir.file("b"));
  expect_left_out(options, 1, "no superblock copy is usable");
  flip_superblocks(dir.file("b"));
  RunningTier life(options);
  EXPECT_EQ(life.opening().facts.opened.size(), 2U);
  life.open();
  EXPECT_EQ(life.tier().snapshot().read().path_count, 2U);
  EXPECT_FALSE(life.tier().snapshot().read().is_path_missing) << "it was not given up";
  life.close();
}

TEST(PathSet, APathOfAnotherStoreIsLeftOutWhereTheStoreHasMore_D15) {
  const ScratchDir dir;
  make_paths(dir, 3);
  const ScratchDir other;
  const std::string foreign = make_store(other, "x");
  expect_left_out(options_of({foreign, dir.file("a"), dir.file("c")}), 0,
                  "it belongs to another store than " + dir.file("a") + ", which has more of the paths");
  expect_left_out(options_of({dir.file("a"), dir.file("b"), dir.file("c"), make_foreign(dir, 40 * kMiB)}), 3,
                  "no store of this program");
  std::filesystem::copy(dir.file("b"), dir.file("copy"), std::filesystem::copy_options::recursive);
  expect_left_out(options_of({dir.file("a"), dir.file("copy"), dir.file("c")}), 1, "it may be a copy");
}

// It may be a path that none of the others knows: what is invalidated is noted for it.
TEST(PathSet, APathThatIsNotUnderstoodCountsAsMissing) {
  const ScratchDir dir;
  const NvmeTierOptions options = options_of({make_store(dir, "a"), make_store(dir, "b")});
  expect_shut(dir, options, "nothing says which of the two is meant");
  flip_superblocks(dir.file("b"));
  expect_left_out(options, 1, "no superblock copy is usable");
  RunningTier life(options);
  life.open();
  life.close();
  EXPECT_TRUE(life.tier().snapshot().read().is_path_missing);
}

// It would be another store's path when there is room again.
TEST(PathSet, NoStoreIsMadeBesideOneThatFindsNoRoom) {
  const ScratchDir dir;
  NvmeTierOptions options = options_of({make_store(dir, "a"), make_folder(dir, "new")});
  options.paths[0].bytes = 25 * kMiB;
  expect_shut(dir, options, "raise nvme.paths[].bytes");
}

}  // namespace
}  // namespace kvtier::test
