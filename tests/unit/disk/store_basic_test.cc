// Puts, gets, flushes and restarts of a store on a simulated disk that works.

#include <gtest/gtest.h>

#include "tests/support/sim_store.h"

namespace kvtier::test {
namespace {

std::vector<DiskKey> keys_of(std::uint64_t first, std::uint64_t count) {
  std::vector<DiskKey> keys;
  for (std::uint64_t i = 0; i < count; ++i) keys.push_back(sim_key(first + i));
  return keys;
}

TEST(DiskStore, WhatIsPutIsReadAndIsThereAfterAPowerCut) {
  SimDisk disk(1);
  {
    SimStore sim(disk, small_sim_options());
    ASSERT_TRUE(sim.open()) << sim.store().status().to_string();
    EXPECT_EQ(sim.store().used_bytes(), 0U);
    ASSERT_EQ(sim.put(keys_of(0, 20)), Code::kOk);
    ASSERT_TRUE(sim.settle());
    EXPECT_EQ(sim.index().size(), 20U);
    for (const DiskKey& key : keys_of(0, 20)) EXPECT_EQ(sim.read(key), Code::kOk);
    EXPECT_EQ(sim.flush_now(), Code::kOk);
    EXPECT_EQ(sim.wrong_bytes, 0U);
    sim.device().power_fails();
    disk.power_cut();
  }
  SimStore sim(disk, small_sim_options());
  ASSERT_TRUE(sim.open()) << sim.store().status().to_string();
  EXPECT_EQ(sim.index().size(), 20U);
  for (const DiskKey& key : keys_of(0, 20)) EXPECT_EQ(sim.read(key), Code::kOk);
  EXPECT_EQ(sim.wrong_bytes, 0U);
  EXPECT_EQ(sim.slots_free(), small_sim_options().slots);
}

// With the sizes of a real store: blocks of 2 MiB, segments of 256 MiB.
TEST(DiskStore, ItsOwnMemoryIsBounded) {
  std::array<std::uint64_t, 2> bytes{};
  for (std::size_t paths = 1; paths <= 2; ++paths) {
    SimDisk disk(1);
    SimStoreOptions options = small_sim_options();
    options.store = DiskStoreOptions{.fresh_store = {{1, 2}}, .scratch_region = IoRegion{0}};
    bytes[paths - 1] = SimStore(disk, options, paths, kAlignmentMin).store().scratch_bytes();
  }
  EXPECT_LE(bytes[0], 22 * kMiB);
  EXPECT_LE(bytes[1] - bytes[0], 9 * kMiB);
}

}  // namespace
}  // namespace kvtier::test
