// The file of spaces in real folders.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "daemon/tier/space_catalog.h"
#include "daemon/tier/space_format.h"
#include "tests/support/scratch_dir.h"
#include "tests/unit/tier/tier_world.h"

namespace kvtier::test {
namespace {

std::shared_ptr<const DiskSpace> a_space(const std::string& name) {
  return world_space(name, "1", NamespaceId{0}, SpaceId{1});
}

Code keep(SpaceCatalog& catalog, const std::string& name) {
  std::vector<std::byte> record = encode_space_record(*a_space(name));
  return catalog.keep(record);
}

std::string folder(const ScratchDir& dir, const std::string& name) {
  std::filesystem::create_directory(dir.file(name));
  return dir.file(name);
}

TEST(SpaceCatalog, WhatWasKeptIsThereForTheNextStart) {
  const ScratchDir dir;
  {
    SpaceCatalog catalog;
    ASSERT_TRUE(catalog.add_folder(dir.path()).is_ok());
    EXPECT_TRUE(catalog.spaces().empty());
    EXPECT_EQ(keep(catalog, "a"), Code::kOk);
    EXPECT_EQ(keep(catalog, "b"), Code::kOk);
  }
  SpaceCatalog catalog;
  ASSERT_TRUE(catalog.add_folder(dir.path()).is_ok());
  ASSERT_EQ(catalog.spaces().size(), 2U);
  EXPECT_EQ(catalog.spaces()[1].namespace_name, "b");
  EXPECT_TRUE(catalog.has("a", a_space("a")->digest));
  EXPECT_FALSE(catalog.has("c", a_space("c")->digest));
  EXPECT_EQ(catalog.corrupt_count() + catalog.cut_count() + catalog.failed_count(), 0U);
}

TEST(SpaceCatalog, ATornAppendIsCutAndTheNextOneTakesItsPlace) {
  const ScratchDir dir;
  {
    SpaceCatalog catalog;
    ASSERT_TRUE(catalog.add_folder(dir.path()).is_ok());
    ASSERT_EQ(keep(catalog, "a"), Code::kOk);
    ASSERT_EQ(keep(catalog, "b"), Code::kOk);
  }
  const std::string path = dir.file(kSpacesFileName);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 9);
  {
    SpaceCatalog catalog;
    ASSERT_TRUE(catalog.add_folder(dir.path()).is_ok());
    EXPECT_EQ(catalog.spaces().size(), 1U);
    EXPECT_EQ(catalog.cut_count(), 1U);
    ASSERT_EQ(keep(catalog, "c"), Code::kOk);
  }
  SpaceCatalog catalog;
  ASSERT_TRUE(catalog.add_folder(dir.path()).is_ok());
  ASSERT_EQ(catalog.spaces().size(), 2U);
  EXPECT_EQ(catalog.spaces()[1].namespace_name, "c");
  EXPECT_EQ(catalog.cut_count(), 0U);
}

// whatever a start cuts or skips can be looked at, and put back, afterwards; the first one above all.
TEST(SpaceCatalog, R04_WhatIsCutIsKeptAside) {
  const ScratchDir dir;
  const auto text_of = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  {
    SpaceCatalog catalog;
    ASSERT_TRUE(catalog.add_folder(dir.path()).is_ok());
    ASSERT_EQ(keep(catalog, "a"), Code::kOk);
    EXPECT_TRUE(catalog.kept_aside().empty());
  }
  const std::string path = dir.file(kSpacesFileName);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 4);
  const std::string cut = text_of(path);
  {
    SpaceCatalog catalog;
    ASSERT_TRUE(catalog.read_folder(dir.path()).is_ok());
    EXPECT_TRUE(catalog.kept_aside().empty()) << "who only looks makes nothing";
    ASSERT_TRUE(catalog.add_folder(dir.path()).is_ok());
    EXPECT_EQ(catalog.kept_aside(), std::vector<std::string>{path + ".damaged"});
  }
  for (int i = 0; i < 6; ++i) {
    std::ofstream(path, std::ios::trunc) << "garbage";
    SpaceCatalog catalog;
    ASSERT_TRUE(catalog.add_folder(dir.path()).is_ok());
    EXPECT_EQ(catalog.kept_aside().size(), i < 3 ? 1U : 0U) << "not without end";
  }
  EXPECT_EQ(text_of(path + ".damaged"), cut);
  EXPECT_EQ(text_of(path + ".damaged.4"), "garbage");
  EXPECT_FALSE(std::filesystem::exists(path + ".damaged.5"));
  SpaceCatalog catalog;
  ASSERT_TRUE(catalog.add_folder(dir.path()).is_ok());
  EXPECT_TRUE(catalog.kept_aside().empty()) << "each is whole again";
}

// A path that is away for one start takes no meaning with it, and has all of it again afterwards.
TEST(SpaceCatalog, EachFolderHasWhatTheOthersHave) {
  const ScratchDir dir;
  const std::string first = folder(dir, "first");
  const std::string second = folder(dir, "second");
  {
    SpaceCatalog catalog;
    ASSERT_TRUE(catalog.add_folder(first).is_ok() && catalog.add_folder(second).is_ok());
    ASSERT_EQ(keep(catalog, "a"), Code::kOk);
  }
  {
    SpaceCatalog catalog;
    ASSERT_TRUE(catalog.add_folder(second).is_ok());
    EXPECT_EQ(catalog.spaces().size(), 1U);
    ASSERT_EQ(keep(catalog, "b"), Code::kOk);
  }
  {
    SpaceCatalog catalog;
    ASSERT_TRUE(catalog.add_folder(first).is_ok() && catalog.add_folder(second).is_ok());
    EXPECT_EQ(catalog.spaces().size(), 2U);
    catalog.complete();
  }
  SpaceCatalog catalog;
  ASSERT_TRUE(catalog.read_folder(first).is_ok());
  EXPECT_EQ(catalog.spaces().size(), 2U);
}

TEST(SpaceCatalog, LookingChangesNothing) {
  const ScratchDir dir;
  {
    SpaceCatalog catalog;
    EXPECT_EQ(catalog.read_folder(dir.path()).code(), Code::kNotFound);
    EXPECT_FALSE(std::filesystem::exists(dir.file(kSpacesFileName)));
    ASSERT_TRUE(catalog.add_folder(dir.path()).is_ok());
    ASSERT_EQ(keep(catalog, "a"), Code::kOk);
  }
  const std::string path = dir.file(kSpacesFileName);
  std::ofstream(path, std::ios::app) << "half";
  const auto size = std::filesystem::file_size(path);
  SpaceCatalog catalog;
  ASSERT_TRUE(catalog.read_folder(dir.path()).is_ok());
  EXPECT_EQ(catalog.cut_count(), 1U);
  EXPECT_EQ(std::filesystem::file_size(path), size);
}

TEST(SpaceCatalog, AFolderThatIsMissingAndAFileThatIsNone) {
  const ScratchDir dir;
  SpaceCatalog catalog;
  EXPECT_EQ(catalog.add_folder(dir.file("nowhere")).code(), Code::kNotFound);
  std::filesystem::create_directory(dir.file(kSpacesFileName));
  EXPECT_FALSE(catalog.add_folder(dir.path()).is_ok());
  EXPECT_EQ(keep(catalog, "a"), Code::kSystem);  // no folder took it
}

}  // namespace
}  // namespace kvtier::test
