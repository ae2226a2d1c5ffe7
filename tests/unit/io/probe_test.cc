// Probing by doing: on the build folder's file system, tmpfs and overlay, with io_uring and without.

#include "daemon/io/probe.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "daemon/io/probe_file.h"
#include "tests/unit/io/in_child.h"
#include "tests/unit/io/io_cases.h"

namespace kvtier::test {
namespace {

/// What must hold wherever a path was probed. Empty: it does.
std::string contradictions(const PathProbe& probe) {
  if (probe.engine.value != "uring" && probe.engine.reason.empty()) return "no reason for the engine";
  if (!probe.direct.value && probe.direct.reason.empty()) return "no reason for direct_io=off";
  if (probe.direct.value && probe.alignment.value < 512) return "direct without an alignment";
  if (!probe.direct.value && probe.alignment.value != 1) return "an alignment without direct";
  if (!probe.registered_buffers.value && probe.registered_buffers.reason.empty())
    return "no reason for registered off";
  if (!probe.polled.value && probe.polled.reason.empty()) return "no reason for polled off";
  if (probe.polled.value && !probe.direct.value) return "polled without direct";
  return {};
}

/// "name=value (reason)" of every row.
std::string text_of(const PathProbe& probe) {
  std::string text;
  for (const IoFactRow& row : probe_rows(probe))
    text += row.name + "=" + row.value + (row.reason.empty() ? "" : " (" + row.reason + ")") + "\n";
  return text;
}

std::string probe_says(const std::string& folder, const std::string& file_system,
                       const std::function<std::string(const PathProbe&)>& check) {
  const Result<PathProbe> probe = probe_path(folder, {});
  if (!probe.is_ok()) return probe.status().to_string();
  if (probe.value().file_system != file_system) return "file system is " + probe.value().file_system;
  std::string words = contradictions(probe.value());
  if (words.empty()) words = check(probe.value());
  return words.empty() ? words : words + "\n" + text_of(probe.value());
}

/// Opening with O_DIRECT proves nothing: reads what the probe says is possible, and that less is not.
std::string direct_is_true(const PathProbe& probe) {
  const Result<UniqueFd> file = open_probe_file(probe.folder, O_DIRECT);
  if (!probe.direct.value) return {};
  if (!file.is_ok()) return file.status().to_string();
  alignas(4096) static std::byte block[8192];
  const auto offset = static_cast<off_t>(probe.alignment.value);
  if (::pwrite(file.value().get(), block, probe.alignment.value, offset) != offset)
    return "not writable as it says";
  const Result<bool> is_cached = is_in_page_cache(file.value().get(), sizeof block);
  return is_cached.is_ok() && !is_cached.value() ? "" : "the page cache has it";
}

TEST(Probe, TheBuildFoldersFileSystem) {
  const Result<UniqueFd> file = open_probe_file(".", 0);
  ASSERT_TRUE(file.is_ok()) << file.status().to_string();
  EXPECT_EQ(probe_says(".", file_system_name(file.value().get()), direct_is_true), "");
}

TEST(Probe, LeavesNothingBehind) {
  std::string folder = "probe-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  EXPECT_TRUE(probe_path(folder, {}).is_ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_EQ(::rmdir(folder.c_str()), 0);
}

TEST(Probe, EveryRowHasANameAndAValue) {
  const Result<PathProbe> probe = probe_path(".", {.engine = IoEngine::kPosix});
  ASSERT_TRUE(probe.is_ok()) << probe.status().to_string();
  EXPECT_EQ(probe.value().engine.value, "posix");
  const std::vector<IoFactRow> rows = probe_rows(probe.value());
  EXPECT_EQ(rows.size(), 7U);
  for (const IoFactRow& row : rows) EXPECT_FALSE(row.name.empty() || row.value.empty()) << row.name;
  EXPECT_EQ(probe.value().polled.reason, "engine is posix");
}

TEST(Probe, APathThatCannotBeUsedIsRefusedWithItsName) {
  const auto expect = [](const std::string& folder, Code code) {
    const Result<PathProbe> probe = probe_path(folder, {});
    EXPECT_EQ(probe.code(), code) << probe.status().to_string();
    EXPECT_NE(probe.status().message().find(folder), std::string::npos) << probe.status().message();
  };
  expect("no-such-folder", Code::kNotFound);
  expect("/proc/self/status", Code::kNotFound);
  EXPECT_EQ(in_child([&]() -> std::string {
              std::string words = become_nobody();
              const Result<PathProbe> probe = probe_path("/", {});
              if (words.empty() && probe.code() != Code::kDenied) words = probe.status().to_string();
              return words;
            }),
            "");
}

/// A child with mounts of its own.
std::string own_mounts() {
  if (::unshare(CLONE_NEWNS) != 0) return "unshare: needs root";
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ? "" : "mount: private is refused";
}

bool can_mount() {
  return in_child(own_mounts).empty();
}

/// The child's mount point: below the working directory, so that nothing else is hidden.
std::string mount_tmpfs(const std::string& folder, const char* options) {
  (void)::mkdir(folder.c_str(), 0700);
  return ::mount("tmpfs", folder.c_str(), "tmpfs", 0, options) == 0 ? "" : "mount of tmpfs is refused";
}

class ProbeMounts : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_mount()) GTEST_SKIP() << "mounting needs root";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  ~ProbeMounts() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string folder_ = "mount-XXXXXX";
};

// D-09: tmpfs refuses O_DIRECT, or takes it and caches all the same.
TEST_F(ProbeMounts, D09_TmpfsIsBufferedAndSaysSo) {
  EXPECT_EQ(in_child([&]() -> std::string {
              if (std::string words = own_mounts(); !words.empty()) return words;
              if (std::string words = mount_tmpfs(folder_, "size=1m"); !words.empty()) return words;
              return probe_says(folder_, "tmpfs", [](const PathProbe& probe) {
                return probe.direct.value ? "direct on tmpfs" : "";
              });
            }),
            "");
}

TEST_F(ProbeMounts, D09_OverlayIsWhatLiesBelowIt) {
  EXPECT_EQ(in_child([&]() -> std::string {
              if (std::string words = own_mounts(); !words.empty()) return words;
              for (const char* name : {"lower", "upper", "scratch", "merged"})
                (void)::mkdir((folder_ + "/" + name).c_str(), 0700);
              const std::string options = "lowerdir=" + folder_ + "/lower,upperdir=" + folder_ +
                                          "/upper,workdir=" + folder_ + "/scratch";
              const std::string merged = folder_ + "/merged";
              if (::mount("overlay", merged.c_str(), "overlay", 0, options.c_str()) != 0)
                return "mount: overlay";
              const Result<PathProbe> below = probe_path(folder_ + "/upper", {});
              if (!below.is_ok()) return below.status().to_string();
              return probe_says(merged, "overlay", [&](const PathProbe& probe) -> std::string {
                if (probe.direct.value != below.value().direct.value) return "direct is not as below";
                return direct_is_true(probe);
              });
            }),
            "");
}

TEST_F(ProbeMounts, AFullFileSystemIsRefusedWithAdvice) {
  EXPECT_EQ(in_child([&]() -> std::string {
              if (std::string words = own_mounts(); !words.empty()) return words;
              if (std::string words = mount_tmpfs(folder_, "size=4k"); !words.empty()) return words;
              const Result<UniqueFd> filler = open_probe_file(folder_, 0);
              if (!filler.is_ok() || ::pwrite(filler.value().get(), "x", 1, 0) != 1) return "no filler";
              const Result<PathProbe> probe = probe_path(folder_, {});
              if (probe.code() != Code::kNoSpace) return probe.status().to_string();
              return probe.status().message().find("free space") != std::string::npos
                         ? ""
                         : probe.status().message();
            }),
            "");
}

TEST_F(ProbeMounts, AReadOnlyFileSystemIsRefused) {
  EXPECT_EQ(in_child([&]() -> std::string {
              if (std::string words = own_mounts(); !words.empty()) return words;
              if (std::string words = mount_tmpfs(folder_, "ro"); !words.empty()) return words;
              const Result<PathProbe> probe = probe_path(folder_, {});
              return probe.code() == Code::kDenied ? "" : probe.status().to_string();
            }),
            "");
}

TEST(Probe, D07_WithoutIoUringItSaysSoAndProbesAllElse) {
  EXPECT_EQ(in_child([]() -> std::string {
              if (std::string words = deny_calls({SYS_io_uring_setup}, EPERM); !words.empty()) return words;
              const Result<PathProbe> probe = probe_path(".", {});
              if (!probe.is_ok()) return probe.status().to_string();
              if (probe.value().engine.value != "posix") return "engine is " + probe.value().engine.value;
              return contradictions(probe.value());
            }),
            "");
}

}  // namespace
}  // namespace kvtier::test
