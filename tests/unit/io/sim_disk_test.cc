// The simulated disk: what a sync covers survives a power cut; the rest is lost, kept or torn, sector by sector.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "tests/support/sim_disk_backend.h"
#include "tests/unit/io/ring_harness.h"

namespace kvtier::test {
namespace {

constexpr std::uint32_t kBlock = 4096;
constexpr std::size_t kSectors = kBlock / kSimSectorBytes;

std::vector<std::byte> block_of(std::uint8_t value) {
  return std::vector<std::byte>(kBlock, std::byte{value});
}

/// The value of each sector; a sector of several values is a failure.
std::vector<std::uint8_t> sectors_of(SimDisk& disk, int file, std::uint64_t offset) {
  std::vector<std::uint8_t> values;
  for (std::size_t sector = 0; sector < kSectors; ++sector) {
    const auto bytes =
        std::span(disk.image(file)).subspan(offset + sector * kSimSectorBytes, kSimSectorBytes);
    EXPECT_TRUE(std::ranges::all_of(bytes, [&](std::byte b) { return b == bytes[0]; }))
        << "torn inside a sector";
    values.push_back(std::to_integer<std::uint8_t>(bytes[0]));
  }
  return values;
}

TEST(SimDisk, WhatASyncCoversIsThereAfterAPowerCut) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SimDisk disk(seed);
    const int file = disk.create("f", kBlock);
    disk.write(file, 0, block_of(1));
    const std::uint64_t started = disk.sync_start();
    EXPECT_EQ(disk.sync_finish(file, started), 0);
    disk.power_cut();
    EXPECT_EQ(sectors_of(disk, file, 0), std::vector<std::uint8_t>(kSectors, 1));
  }
}

TEST(SimDisk, AWriteAfterTheSyncBeganIsNotCovered) {
  std::set<std::vector<std::uint8_t>> fates;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SimDisk disk(seed);
    const int file = disk.create("f", kBlock);
    const std::uint64_t started = disk.sync_start();
    disk.write(file, 0, block_of(1));
    disk.sync_finish(file, started);
    disk.power_cut();
    fates.insert(sectors_of(disk, file, 0));
  }
  EXPECT_TRUE(fates.contains(std::vector<std::uint8_t>(kSectors, 0))) << "lost";
  EXPECT_TRUE(fates.contains(std::vector<std::uint8_t>(kSectors, 1))) << "kept";
  EXPECT_GT(fates.size(), 20U) << "torn in many ways";
}

// Two writes to one place, the later one lost: the earlier one may be what is left, whole or mixed with it.
TEST(SimDisk, WritesSinceTheSyncReachTheDiskInAnyOrder) {
  bool is_first_left = false;
  bool is_mixed = false;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SimDisk disk(seed);
    const int file = disk.create("f", 2 * kBlock);
    disk.write(file, 0, block_of(1));
    disk.write(file, 0, block_of(2));
    disk.write(file, kBlock, block_of(3));
    disk.power_cut();
    const std::vector<std::uint8_t> first = sectors_of(disk, file, 0);
    is_first_left = is_first_left || first == std::vector<std::uint8_t>(kSectors, 1);
    is_mixed = is_mixed || (std::ranges::count(first, 1) > 0 && std::ranges::count(first, 2) > 0);
  }
  EXPECT_TRUE(is_first_left);
  EXPECT_TRUE(is_mixed);
}

TEST(SimDisk, NamesAndSizesSurviveAndRemovedFilesAreGone) {
  SimDisk disk(1);
  const int file = disk.create("segment-1", kBlock);
  disk.create("segment-2", kBlock);
  disk.remove("segment-2");
  disk.power_cut();
  EXPECT_EQ(disk.names(), std::vector<std::string>{"segment-1"});
  EXPECT_EQ(disk.open("segment-1"), file);
  EXPECT_EQ(disk.open("segment-2"), -1);
  EXPECT_EQ(disk.image(file).size(), kBlock);
  EXPECT_EQ(disk.read(99, 0, {}), -EBADF);
}

/// A ring on a disk that outlives it.
struct PowerCut {
  explicit PowerCut(std::uint64_t seed) {
    IoUnderTest under;
    under.disk = std::make_unique<SimDisk>(seed);
    disk = under.disk.get();
    under.fd = disk->create("file", RingHarness::kRegionBytes);
    under.alignment = kSimSectorBytes;
    auto device = std::make_unique<SimDiskBackend>(*disk, SimDiskOptions{.seed = seed});
    backend = device.get();
    under.backend = std::move(device);
    harness = std::make_unique<RingHarness>(std::move(under), IoRingOptions{});
    std::ranges::fill(harness->memory(RingHarness::kSource), std::byte{7});
  }
  SimDisk* disk = nullptr;
  SimDiskBackend* backend = nullptr;
  std::unique_ptr<RingHarness> harness;
};

TEST(SimDiskBackend, AWriteUnderWayMayBeHalfDoneAndIsNeverAnswered) {
  std::size_t kept = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    PowerCut test(seed);
    (void)test.harness->submit(test.harness->request(IoKind::kWrite, 0, kBlock));
    EXPECT_EQ(test.harness->poll(), 0U);
    test.backend->power_fails();
    test.disk->power_cut();
    test.harness->clock().advance(kNsPerSecond);
    EXPECT_EQ(test.harness->poll(), 0U);
    EXPECT_EQ(test.backend->next_deadline_ns(), kNever);
    kept += static_cast<std::size_t>(std::ranges::count(sectors_of(*test.disk, 0, 0), 7));
  }
  EXPECT_GT(kept, 0U);
  EXPECT_LT(kept, 30 * kSectors);
}

TEST(SimDiskBackend, ASyncThroughTheRingCoversAnsweredWrites) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    PowerCut test(seed);
    EXPECT_EQ(test.harness->run(test.harness->request(IoKind::kWrite, 0, kBlock)).outcome, IoOutcome::kDone);
    const IoId sync = test.harness->submit({.kind = IoKind::kSync});
    (void)test.harness->submit(test.harness->request(IoKind::kWrite, kBlock, kBlock));
    test.harness->finish();
    EXPECT_EQ(test.harness->result(sync).outcome, IoOutcome::kDone);
    test.disk->power_cut();
    EXPECT_EQ(sectors_of(*test.disk, 0, 0), std::vector<std::uint8_t>(kSectors, 7));
  }
}

TEST(SimDiskBackend, TakesItsTimeAndMisalignedRequestsFail) {
  PowerCut test(1);
  (void)test.harness->submit(test.harness->request(IoKind::kWrite, 0, kBlock));
  EXPECT_EQ(test.harness->poll(), 0U);
  const TimeNs due_ns = test.harness->ring().next_deadline_ns();
  EXPECT_GE(due_ns, test.harness->clock().now_ns() + 80 * kNsPerUs);
  test.harness->clock().advance(due_ns - test.harness->clock().now_ns());
  EXPECT_EQ(test.harness->poll(), 1U);
  ASSERT_TRUE(test.harness->ring().set_file(IoFile{0}, 0, 1).is_ok()) << "a caller that does not know better";
  EXPECT_EQ(test.harness->run(test.harness->request(IoKind::kRead, 100, kBlock)).error, EINVAL);
}

// Damage to what a reader sees goes with the power, as the cache does; damage to the medium stays.
TEST(SimDisk, OnlyLastingDamageOutlivesAPowerCut) {
  SimDisk disk(1);
  const int file = disk.create("a", 2 * kSimSectorBytes);
  const std::vector<std::byte> bytes(2 * kSimSectorBytes, std::byte{1});
  ASSERT_EQ(disk.write(file, 0, bytes), static_cast<std::int32_t>(bytes.size()));
  ASSERT_EQ(disk.sync_finish(file, disk.sync_start()), 0);
  disk.image(file)[0] = disk.image(file)[kSimSectorBytes] = std::byte{7};
  disk.make_lasting(file, kSimSectorBytes, kSimSectorBytes);
  disk.power_cut();
  EXPECT_EQ(disk.image(file)[0], std::byte{1});
  EXPECT_EQ(disk.image(file)[kSimSectorBytes], std::byte{7});
}

}  // namespace
}  // namespace kvtier::test
