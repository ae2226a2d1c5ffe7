// What size_path() made is there after a power cut. Each test fails without one of its two syncs.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "daemon/disk/path_size.h"
#include "libkvclient/base/units.h"
#include "tests/support/power_cut_folder.h"
#include "tests/support/scratch_dir.h"

namespace kvtier::test {
namespace {

Status make_path(const ScratchDir& folder, std::uint64_t bytes, bool is_given_up = false) {
  Result<OwnedPath> owned = own_path({.folder = folder.path(), .instance = "the test"});
  if (!owned.is_ok()) return owned.status();
  return size_path(
      owned.value(),
      {.bytes_max = bytes, .bytes_min = 64 * kKiB, .step_bytes = 64 * kKiB, .is_given_up = is_given_up});
}

std::uint64_t size_of(const ScratchDir& folder) {
  std::error_code error;
  const std::uint64_t bytes = std::filesystem::file_size(folder.file(kStoreFileName), error);
  return error ? 0 : bytes;
}

// A store that was told to be open lies in a file that has a name, and all of its bytes.
TEST(PathPower, NameAndSizeSurviveAPowerCut_D11) {
  const ScratchDir folder;
  PowerCutFolder power(folder.path());
  ASSERT_TRUE(make_path(folder, kMiB).is_ok());
  power.cut();
  EXPECT_EQ(size_of(folder), kMiB);
  ASSERT_TRUE(make_path(folder, 2 * kMiB).is_ok()) << "it grows";
  power.cut();
  EXPECT_EQ(size_of(folder), 2 * kMiB);
}

// What was emptied for a new store does not come back before the new one has superblocks.
TEST(PathPower, WhatWasGivenUpStaysGone) {
  const ScratchDir folder;
  ASSERT_TRUE(make_path(folder, kMiB).is_ok());
  std::fstream(folder.file(kStoreFileName), std::ios::in | std::ios::out) << "content";
  PowerCutFolder power(folder.path());
  ASSERT_TRUE(make_path(folder, kMiB, true).is_ok());
  power.cut();
  EXPECT_EQ(size_of(folder), kMiB);
  EXPECT_EQ(std::ifstream(folder.file(kStoreFileName)).get(), 0);
}

}  // namespace
}  // namespace kvtier::test
