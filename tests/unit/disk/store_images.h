#pragma once
// Stores on a disk in memory, ended as a kill leaves them, and what is done to their files.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/support/sim_store.h"

namespace kvtier::test {

inline constexpr std::uint64_t kFileBytes = kSegmentsOffset + 8 * 128 * kKiB;

/// A disk with a store of ten blocks on so many paths, which ended as a kill leaves it.
inline void make_store(SimDisk& disk, std::size_t paths = 1) {
  SimStore sim(disk, small_sim_options(), paths, kFileBytes);
  ASSERT_TRUE(sim.open()) << sim.store().status().to_string();
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_EQ(sim.put_one(sim_key(i)), Code::kOk);
  ASSERT_EQ(sim.flush_now(), Code::kOk);
}

/// Opens, expects a refusal with these words, and that not a byte of the disk is another.
inline void expect_refusal(SimDisk& disk, const SimStoreOptions& options, Code code, const std::string& words,
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

inline std::span<std::byte> bytes_at(SimDisk& disk, std::uint64_t offset, std::uint64_t count,
                                     std::size_t path = 0) {
  return std::span(disk.image(disk.open("path" + std::to_string(path)))).subspan(offset, count);
}

inline Superblock superblock_of(SimDisk& disk, std::size_t path = 0) {
  SuperblockCopies copies;
  for (std::uint32_t i = 0; i < kSuperblockCopies; ++i)
    copies[i] = bytes_at(disk, i * kSuperblockStrideBytes, kHeaderBytesMax, path);
  return choose_superblock(copies).value().superblock;
}

inline void set_superblock(SimDisk& disk, const Superblock& block, std::size_t path = 0) {
  for (std::uint32_t i = 0; i < kSuperblockCopies; ++i) {
    const SuperblockBytes bytes = encode_superblock(block, i);
    std::memcpy(bytes_at(disk, i * kSuperblockStrideBytes, bytes.size(), path).data(), bytes.data(),
                bytes.size());
  }
}

/// The file of a path is that of another store's.
inline void put_other_store(SimDisk& disk, std::size_t path) {
  SimDisk other(2);
  SimStoreOptions options = small_sim_options();
  options.store.fresh_store = {{5, 6}};
  ASSERT_TRUE(SimStore(other, options, path + 1, kFileBytes).open());
  const std::string name = "path" + std::to_string(path);
  if (disk.open(name) < 0) disk.create(name, kFileBytes);
  disk.image(disk.open(name)) = other.image(other.open(name));
}

}  // namespace kvtier::test
