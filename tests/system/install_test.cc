// cmake --install of this build into a folder: what a user finds, and that it works from there.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/system/daemon_process.h"

namespace kvtier::test {
namespace {

namespace fs = std::filesystem;

class Install : public testing::Test {
 protected:
  // Once, and moved as a whole: nothing but the unit names where it was.
  static void SetUpTestSuite() {
    dir_ = std::make_unique<ScratchDir>();
    const std::string staged = dir_->file("staged");
    ASSERT_EQ(run({KVTIER_CMAKE, "--install", KVTIER_BINARY_DIR, "--prefix", staged}), 0) << said();
    unit_ = read_file(staged + "/lib/systemd/system/kvtierd.service");
    fs::rename(staged, prefix(""));
  }
  static void TearDownTestSuite() { dir_.reset(); }

  static int run(const std::vector<std::string>& command, const std::vector<std::string>& environment = {}) {
    fs::remove(dir_->file("output"));
    return ChildProcess({.command = command, .environment = environment, .output_path = dir_->file("output")})
        .wait();
  }
  // In a shell that finds the libraries and what describes them below the prefix alone.
  static int run_shell(const std::string& script) {
    const std::string libraries = fs::path(find("libkvclient.so")).parent_path();
    return run({"/bin/sh", "-ec", "cd '" + dir_->path() + "'; " + script},
               {"LD_LIBRARY_PATH=" + libraries,
                "PKG_CONFIG_PATH=" + fs::path(find("kvclient.pc")).parent_path().string()});
  }
  static std::string said() { return read_file(dir_->file("output")); }
  static std::string prefix(const std::string& path) { return dir_->file("usr/" + path); }
  // Below lib, lib64 or lib/<triplet>.
  static std::string find(const std::string& name) {
    for (const auto& entry : fs::recursive_directory_iterator(prefix("")))
      if (entry.path().filename() == name) return entry.path();
    return {};
  }
  static void write(const std::string& name, const std::string& text) {
    std::ofstream(dir_->file(name)) << text;
  }
  // `command` in the scratch folder stores and reads beside a daemon.
  static void expect_shares(const std::string& command) {
    DaemonPlace place;
    const std::unique_ptr<ChildProcess> daemon = place.start();
    ASSERT_NE(daemon, nullptr) << place.output();
    EXPECT_EQ(run_shell("KVTIER_SOCKET='" + place.socket() + "' " + command), 0) << said();
    EXPECT_NE(said().find("computed 4, read 4 of 4"), std::string::npos) << said();
  }

  inline static std::unique_ptr<ScratchDir> dir_;
  inline static std::string unit_;
};

TEST_F(Install, programs_settings_and_units_work_from_there) {
  for (const char* name : {"kvtierd", "kvtier-keeper", "kvctl"}) {
    EXPECT_EQ(run({prefix("bin/") + name, "--version"}), 0) << said();
    EXPECT_EQ(run({prefix("bin/") + name, "--help"}), 0) << said();
    EXPECT_NE(said().find(name), std::string::npos) << said();
  }
  EXPECT_EQ(run({prefix("bin/kvtierd"), "--check", "--config", prefix("share/kvtier/kvtierd.yaml")}), 0)
      << said();
  EXPECT_NE(unit_.find("ExecStart=" + dir_->file("staged/bin/kvtierd") + " "), std::string::npos) << unit_;
  for (const char* path : {"lib/sysusers.d/kvtier.conf", "lib/tmpfiles.d/kvtier.conf"})
    EXPECT_FALSE(read_file(prefix(path)).empty()) << path;
  EXPECT_TRUE(fs::is_symlink(find("libkvclient.so.1"))) << "the soname";
}

TEST_F(Install, a_c_program_compiles_with_pkg_config) {
  ASSERT_EQ(run_shell(KVTIER_CC " -o c '" + find("share.c") + "' $(pkg-config --cflags --libs kvclient)"), 0)
      << said();
  expect_shares("./c");
}

TEST_F(Install, a_cpp_program_compiles_with_pkg_config) {
  ASSERT_EQ(run_shell(KVTIER_CXX " -std=c++20 -o cc '" + find("share.cc") +
                      "' $(pkg-config --cflags --libs kvclient)"),
            0)
      << said();
  expect_shares("./cc");
  ASSERT_EQ(run_shell("pkg-config --modversion kvclient"), 0) << said();
  EXPECT_EQ(said(), KVTIER_VERSION "\n");
}

TEST_F(Install, a_cmake_project_finds_the_package) {
  fs::create_directory(dir_->file("project"));
  write("project/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.25)\nproject(engine LANGUAGES C CXX)\n"
        "find_package(kvclient " KVTIER_VERSION " REQUIRED)\nadd_executable(engine_c \"" +
            find("share.c") + "\")\nadd_executable(engine_cc \"" + find("share.cc") +
            "\")\nforeach(engine engine_c engine_cc)\n"
            "  target_link_libraries(${engine} kvclient::kvclient)\nendforeach()\n");
  ASSERT_EQ(run({KVTIER_CMAKE, "-S", dir_->file("project"), "-B", dir_->file("engine"),
                 "-DCMAKE_PREFIX_PATH=" + prefix("")}),
            0)
      << said();
  ASSERT_EQ(run({KVTIER_CMAKE, "--build", dir_->file("engine")}), 0) << said();
  expect_shares("engine/engine_c");
  expect_shares("engine/engine_cc");
}

// A project that asks for a version that may have another interface is refused, not linked.
TEST_F(Install, another_version_is_not_taken_for_this_one) {
  fs::create_directory(dir_->file("later"));
  write("later/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.25)\nproject(later LANGUAGES C)\nfind_package(kvclient 99.0)\n"
        "if(kvclient_FOUND)\n  message(FATAL_ERROR \"taken\")\nendif()\n");
  EXPECT_EQ(run({KVTIER_CMAKE, "-S", dir_->file("later"), "-B", dir_->file("later_build"),
                 "-DCMAKE_PREFIX_PATH=" + prefix("")}),
            0)
      << said();
  EXPECT_NE(said().find("kvclientConfig.cmake, version: " KVTIER_VERSION), std::string::npos) << said();
}

TEST_F(Install, the_python_package_is_imported_from_there) {
#ifndef KVTIER_PYTHON3
  GTEST_SKIP() << "this build has no Python module";
#else
  const std::string package = find("_kvclient" KVTIER_PYTHON_SUFFIX);
  ASSERT_FALSE(package.empty());
  const std::string folder = fs::path(package).parent_path().parent_path();
  expect_shares("PYTHONPATH='" + folder + "' PYTHONDONTWRITEBYTECODE=1 " KVTIER_PYTHON3 " '" +
                find("share.py") + "'");
#endif
}

// Debian's interpreter finds it without PYTHONPATH after an installation to /usr or /usr/local; staged here by DESTDIR.
TEST_F(Install, the_python_package_goes_where_the_interpreter_looks) {
#ifndef KVTIER_PYTHON3
  GTEST_SKIP() << "this build has no Python module";
#else
  ASSERT_EQ(run_shell(KVTIER_PYTHON3 " -c 'import sys; print(sys.prefix); print(*sys.path)'"), 0) << said();
  const std::string first_line = said().substr(0, said().find('\n'));
  const std::string looked_into = said().substr(said().find('\n'));
  ASSERT_EQ(run({KVTIER_CMAKE, "--install", KVTIER_BINARY_DIR, "--prefix", first_line},
                {"DESTDIR=" + dir_->file("root")}),
            0)
      << said();
  const std::string line = "/kvclient/__init__.py";
  const std::size_t end = said().find(line);
  ASSERT_NE(end, std::string::npos) << said();
  const std::size_t begin = said().rfind(dir_->file("root"), end) + dir_->file("root").size();
  EXPECT_NE((looked_into + " ").find(said().substr(begin, end - begin)), std::string::npos)
      << said().substr(begin, end - begin) << " is not in" << looked_into;
#endif
}

TEST_F(Install, pip_installs_the_package_without_a_network) {
#ifndef KVTIER_PYTHON3
  GTEST_SKIP() << "this build has no Python module";
#else
  if (run({KVTIER_PYTHON3, "-m", "pip", "--version"}) != 0)
    GTEST_SKIP() << KVTIER_PYTHON3 " has no pip: apt-get install python3-pip";
  ASSERT_EQ(run({KVTIER_PYTHON3, "-m", "pip", "install", "--no-index", "--no-cache-dir",
                 "--disable-pip-version-check", "--target", dir_->file("pip"),
                 KVTIER_SOURCE_DIR "/libkvclient/python"},
                {"KVTIER_BUILD=" KVTIER_BINARY_DIR}),
            0)
      << said();
  const std::string python = "PYTHONPATH='" + dir_->file("pip") + "' " KVTIER_PYTHON3 " ";
  EXPECT_EQ(run_shell(python + "-c 'import importlib.metadata as m; print(m.version(\"kvclient\"))'"), 0)
      << said();
  EXPECT_EQ(said(), KVTIER_VERSION "\n");
  expect_shares(python + "'" + find("share.py") + "'");
#endif
}

}  // namespace
}  // namespace kvtier::test
