// The file of spaces after a power cut. Each sync of the catalog has a test here that fails without it.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "daemon/tier/space_catalog.h"
#include "daemon/tier/space_format.h"
#include "tests/support/power_cut_folder.h"
#include "tests/support/scratch_dir.h"
#include "tests/unit/tier/tier_world.h"

namespace kvtier::test {
namespace {

Code keep(SpaceCatalog& catalog, const std::string& name) {
  std::vector<std::byte> record = encode_space_record(*world_space(name, "1", NamespaceId{0}, SpaceId{1}));
  return catalog.keep(record);
}

std::vector<std::string> names_in(const std::string& folder) {
  SpaceCatalog catalog;
  if (!catalog.read_folder(folder).is_ok()) return {"no file"};
  if (catalog.corrupt_count() + catalog.cut_count() != 0) return {"damaged"};
  std::vector<std::string> names;
  for (const DiskSpace& space : catalog.spaces()) names.push_back(space.namespace_name);
  return names;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

using Names = std::vector<std::string>;

TEST(SpacePower, AFolderThatWasTakenHasAWholeFile) {
  const ScratchDir dir;
  PowerCutFolder power(dir.path());
  ASSERT_TRUE(SpaceCatalog().add_folder(dir.path()).is_ok());
  power.cut();
  EXPECT_EQ(text_of(dir.file(kSpacesFileName)).size(), sizeof(SpacesHeader));
  EXPECT_EQ(names_in(dir.path()), Names{});
}

// Blocks of a space go to disk once keep() said that it is there.
TEST(SpacePower, WhatWasKeptSurvives_R04) {
  const ScratchDir dir;
  PowerCutFolder power(dir.path());
  SpaceCatalog catalog;
  ASSERT_TRUE(catalog.add_folder(dir.path()).is_ok());
  ASSERT_EQ(keep(catalog, "a"), Code::kOk);
  ASSERT_EQ(keep(catalog, "b"), Code::kOk);
  power.cut();
  EXPECT_EQ(names_in(dir.path()), (Names{"a", "b"}));
}

TEST(SpacePower, WhatAFolderGotOfTheOthersSurvives) {
  const ScratchDir dir;
  const std::string first = dir.file("first");
  const std::string second = dir.file("second");
  for (const std::string& folder : {first, second}) std::filesystem::create_directory(folder);
  {
    SpaceCatalog catalog;
    ASSERT_TRUE(catalog.add_folder(first).is_ok());
    ASSERT_EQ(keep(catalog, "a"), Code::kOk);
  }
  PowerCutFolder power(dir.path());
  {
    SpaceCatalog catalog;
    ASSERT_TRUE(catalog.add_folder(first).is_ok() && catalog.add_folder(second).is_ok());
    catalog.complete();
  }
  power.cut();
  EXPECT_EQ(names_in(second), Names{"a"});
}

// Wherever the power goes while a damaged file is cut: its bytes are in it, or in the copy beside it.
TEST(SpacePower, WhatIsCutIsNeverInNoFile_R04) {
  for (std::uint64_t syncs = 0;; ++syncs) {
    const ScratchDir dir;
    const std::string path = dir.file(kSpacesFileName);
    {
      SpaceCatalog catalog;
      ASSERT_TRUE(catalog.add_folder(dir.path()).is_ok());
      ASSERT_EQ(keep(catalog, "a"), Code::kOk);
    }
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 4);
    const std::string found = text_of(path);
    PowerCutFolder power(dir.path());
    power.set_syncs_left(syncs);
    SpaceCatalog catalog;
    ASSERT_TRUE(catalog.add_folder(dir.path()).is_ok());
    const std::uint64_t all = power.sync_count();
    power.cut();
    EXPECT_TRUE(text_of(path) == found || text_of(path + ".damaged") == found) << syncs << " of " << all;
    if (syncs < all) continue;
    EXPECT_EQ(text_of(path).size(), sizeof(SpacesHeader)) << "the cut is durable";
    break;
  }
}

}  // namespace
}  // namespace kvtier::test
