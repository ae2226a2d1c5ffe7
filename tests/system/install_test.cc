// cmake --install of this build into a folder: what a user finds, and that it works from there.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/system/daemon_process.h"

namespace kvtier::test {
namespace {

class Install : public testing::Test {
 protected:
  int run(const std::vector<std::string>& command) {
    ChildProcess child({.command = command,
                        .environment = {"LD_LIBRARY_PATH=" + library_folder()},
                        .output_path = dir_.file("output")});
    return child.wait();
  }
  std::string said() { return read_file(dir_.file("output")); }
  std::string prefix(const std::string& path) { return dir_.file("usr/" + path); }
  // lib, lib64 or lib/<triplet>.
  std::string library_folder() {
    if (!std::filesystem::exists(prefix(""))) return {};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(prefix("")))
      if (entry.path().filename() == "libkvclient.so") return entry.path().parent_path();
    return {};
  }

  ScratchDir dir_;
};

TEST_F(Install, what_is_installed_works_from_there) {
  ASSERT_EQ(run({KVTIER_CMAKE, "--install", KVTIER_BINARY_DIR, "--prefix", dir_.file("usr")}), 0) << said();
  for (const char* name : {"kvtierd", "kvtier-keeper", "kvctl"}) {
    EXPECT_EQ(run({prefix("bin/") + name, "--version"}), 0) << said();
    EXPECT_EQ(run({prefix("bin/") + name, "--help"}), 0) << said();
  }
  EXPECT_NE(said().find("kvctl"), std::string::npos);
  EXPECT_EQ(run({prefix("bin/kvtierd"), "--check", "--config", prefix("share/kvtier/kvtierd.yaml")}), 0)
      << said();
  const std::string unit = read_file(prefix("lib/systemd/system/kvtierd.service"));
  EXPECT_NE(unit.find("ExecStart=" + prefix("bin/kvtierd") + " "), std::string::npos) << unit;
  for (const char* path : {"lib/sysusers.d/kvtier.conf", "lib/tmpfiles.d/kvtier.conf"})
    EXPECT_FALSE(read_file(prefix(path)).empty()) << path;
}

// As a user does: the compiler finds header and library below the prefix alone.
TEST_F(Install, a_c_program_compiles_against_it) {
  ASSERT_EQ(run({KVTIER_CMAKE, "--install", KVTIER_BINARY_DIR, "--prefix", dir_.file("usr")}), 0) << said();
  const std::string folder = library_folder();
  ASSERT_FALSE(folder.empty());
  EXPECT_TRUE(std::filesystem::is_symlink(folder + "/libkvclient.so.1")) << "the soname";
  ASSERT_EQ(run({KVTIER_CC, "-o", dir_.file("share"), KVTIER_SOURCE_DIR "/libkvclient/examples/share.c",
                 "-I" + prefix("include"), "-L" + folder, "-lkvclient"}),
            0)
      << said();
  DaemonPlace place;
  const std::unique_ptr<ChildProcess> daemon = place.start();
  ASSERT_NE(daemon, nullptr) << place.output();
  ::setenv("KVTIER_SOCKET", place.socket().c_str(), 1);
  EXPECT_EQ(run({dir_.file("share")}), 0) << said();
  EXPECT_NE(said().find("computed 4, read 4 of 4"), std::string::npos) << said();
}

}  // namespace
}  // namespace kvtier::test
