#include "daemon/config/describe.h"
#include "daemon/config/nvme_checks.h"
#include "daemon/config/reload.h"
#include "tests/unit/config/config_fixture.h"

namespace kvtier {
namespace {

std::string with_paths(const std::string& entries, const std::string& more = "") {
  return "nvme:\n  segment_bytes: 16MiB\n" + more + "  paths:\n" + entries;
}

TEST(NvmeConfig, WithoutPathsThereIsNoTier) {
  for (const char* text : {"", "nvme:\n  paths: []\n"}) {
    const ConfigLoad load = load_text(text);
    ASSERT_TRUE(load.is_ok()) << load.status().to_string();
    EXPECT_TRUE(load.config->nvme.paths.empty());
    EXPECT_EQ(nvme_blocks_max(*load.config), 0U);
    EXPECT_TRUE(load.warnings.empty());
  }
}

TEST(NvmeConfig, ASettingWithoutPathsIsSaidToHaveNoEffect) {
  const ConfigLoad load = load_text("nvme:\n  backend: posix\n");
  ASSERT_TRUE(load.is_ok());
  EXPECT_TRUE(has(to_string(load.warnings), "nvme.backend: has no effect: nvme.paths is empty"));
}

TEST(NvmeConfig, MistakesSayWhereAndHow) {
  EXPECT_TRUE(has(errors_of("nvme:\n  paths: 7\n"), "t.yaml:2: nvme.paths: is not a list of paths"));
  EXPECT_TRUE(has(errors_of("nvme:\n  paths: [/a]\n"), "nvme.paths: has an entry that is not a map"));
  EXPECT_TRUE(has(errors_of(with_paths("    - dir: /a\n")), "nvme.paths[0].bytes: is missing"));
  EXPECT_TRUE(has(errors_of(with_paths("    - {dir: a, bytes: 1GiB}\n")),
                  "nvme.paths[0].dir: \"a\" is not an absolute path"));
  EXPECT_TRUE(has(errors_of(with_paths("    - {dir: /a, byte: 1GiB}\n")), "did you mean bytes?"));
  EXPECT_TRUE(has(errors_of(with_paths("    - {dir: /a, bytes: 100}\n")), "nvme.paths[0].bytes"));
  EXPECT_TRUE(has(errors_of("", {"nvme.paths=/a"}), "write nvme.paths in the file"));
}

TEST(NvmeConfig, PathsAreCheckedAgainstSegmentsAndEachOther) {
  EXPECT_TRUE(has(errors_of(with_paths("    - {dir: /a, bytes: 64MiB}\n")), "write at least 65MiB"));
  EXPECT_EQ(errors_of(with_paths("    - {dir: /a, bytes: 65MiB}\n")), "");
  EXPECT_TRUE(has(errors_of(with_paths("    - {dir: /a, bytes: 1GiB}\n    - {dir: /a, bytes: 1GiB}\n")),
                  "nvme.paths[1].dir: /a is nvme.paths[0] already"));
  const std::string odd = "nvme:\n  segment_bytes: 5000KiB\n  paths: [{dir: /a, bytes: 1GiB}]\n";
  EXPECT_TRUE(has(errors_of(odd), "write 5MiB"));
  EXPECT_TRUE(has(errors_of(with_paths("    - {dir: /a, bytes: 1GiB}\n", "  blocks_max: 100000\n"),
                            {"index.blocks_max=1000000"}),
                  "nvme.blocks_max: cannot be chosen beside index.blocks_max"));
}

TEST(NvmeConfig, ABudgetBelowASegmentIsAWarning) {
  const ConfigLoad load =
      load_text(with_paths("    - {dir: /a, bytes: 1GiB}\n", "  write_budget_bytes_per_day: 1MiB\n"));
  ASSERT_TRUE(load.is_ok()) << load.status().to_string();
  EXPECT_TRUE(has(to_string(load.warnings), "hardly anything reaches the disk"));
}

TEST(NvmeConfig, PathsAreDescribedAndNeedARestart) {
  const ConfigLoad before = load_text(with_paths("    - {dir: /a, bytes: 1GiB}\n"));
  const ConfigLoad after = load_text(with_paths("    - {dir: /a, bytes: 2GiB}\n"));
  ASSERT_TRUE(before.is_ok() && after.is_ok());
  bool is_described = false;
  for (const ConfigRow& row : describe(*before.config))
    is_described = is_described || (row.path == "nvme.paths[0].bytes" && row.value == "1 GiB");
  EXPECT_TRUE(is_described);
  const std::vector<SettingChange> changes = changed_settings(*before.config, *after.config);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].path, "nvme.paths[0].bytes");
  EXPECT_EQ(changes[0].reload, Reload::kRestart);
  EXPECT_EQ(with_live_settings(*before.config, *after.config)->nvme.paths[0].bytes, 1ULL << 30);
}

TEST(NvmeConfig, BlocksOnDiskAloneHaveRoom) {
  const ConfigLoad chosen = load_text(with_paths("    - {dir: /a, bytes: 1GiB}\n", "  blocks_max: 123456\n"));
  ASSERT_TRUE(chosen.is_ok()) << chosen.status().to_string();
  EXPECT_EQ(nvme_blocks_max(*chosen.config), 123456U);
  const ConfigLoad small = load_text(with_paths("    - {dir: /a, bytes: 1GiB}\n"));
  EXPECT_EQ(nvme_blocks_max(*small.config), 1024U * 1024 / 4);
}

// One mistake, one complaint; and a folder is the same however it is written.
TEST(Nvme, AWrongSizeIsOneComplaint) {
  const ConfigLoad load = load_text(with_paths("    - {dir: /a, bytes: plenty}\n"));
  ASSERT_FALSE(load.is_ok());
  EXPECT_EQ(load.status().message().find("has no room for"), std::string::npos) << load.status().to_string();
}

TEST(Nvme, OneFolderIsNotTwoPaths) {
  for (const std::string again : {"/a/n/", "/a//n", "/a/./n"}) {
    const ConfigLoad load =
        load_text(with_paths("    - {dir: /a/n, bytes: 1GiB}\n    - {dir: " + again + ", bytes: 1GiB}\n"));
    ASSERT_FALSE(load.is_ok()) << again;
    EXPECT_NE(load.status().message().find("is nvme.paths[0] already"), std::string::npos)
        << load.status().to_string();
  }
}

}  // namespace
}  // namespace kvtier
