// A copy of a store is told from the store.

#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/disk/store_images.h"

namespace kvtier::test {
namespace {

// Homes of SimStore's files are what its options say: what was made elsewhere says another one.
TEST(StoreHome, ACopyIsRefusedAndTakenWithAFreshIdentityOnly_D15) {
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
TEST(StoreHome, AHomeIsToldByItsTimeOfBirthAndNotByItsInodeAlone_D15) {
  SimDisk disk(1);
  make_store(disk);  // inode 1, born at 7, file system 9
  EXPECT_FALSE(home_after_start(disk, {.inode = 1, .birth_ns = 8, .fsid = 9}).has_value());
  EXPECT_FALSE(home_after_start(disk, {.inode = 2, .birth_ns = 7, .fsid = 9}).has_value());
  EXPECT_TRUE(home_after_start(disk, {.inode = 1, .birth_ns = 7, .fsid = 9}).has_value());
}

// On XFS the file system's id is the number of its device.
TEST(StoreHome, ADeviceWithAnotherNumberIsTheSameHome) {
  SimDisk disk(1);
  make_store(disk);
  const std::optional<FileHome> home = home_after_start(disk, {.inode = 1, .birth_ns = 7, .fsid = 10});
  ASSERT_TRUE(home.has_value());
  EXPECT_EQ(home->fsid, 10U) << "as it is now";
}

// Superblocks of before the time of birth was noted, and file systems that do not say it: inode and file system.
TEST(StoreHome, WithoutATimeOfBirthTheFileSystemsIdCounts_D15) {
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

}  // namespace
}  // namespace kvtier::test
