// The commands of README.md's "Run it", run as they stand from the root of the tree: what a reader pastes works.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/system/daemon_process.h"

namespace kvtier::test {
namespace {

/// What stands between backticks in the row of the table that begins with `name`.
std::vector<std::string> commands_of_row(const std::string& name) {
  const std::string readme = read_file(KVTIER_SOURCE_DIR "/README.md");
  const std::size_t begin = readme.find("\n| " + name + " |");
  if (begin == std::string::npos) return {};
  const std::string row = readme.substr(begin, readme.find('\n', begin + 1) - begin);
  std::vector<std::string> commands;
  for (std::size_t open = row.find('`'); open != std::string::npos;) {
    const std::size_t close = row.find('`', open + 1);
    commands.push_back(row.substr(open + 1, close - open - 1));
    open = row.find('`', close + 1);
  }
  return commands;
}

class Readme : public testing::Test {
 protected:
  // The commands name the folder `build` of the tree.
  void SetUp() override {
    std::error_code none;
    if (!std::filesystem::equivalent(KVTIER_SOURCE_DIR "/build", KVTIER_BINARY_DIR, none))
      GTEST_SKIP() << "this build is not in the folder `build`, which README.md names";
  }
  // A shell in the root of the tree.
  std::unique_ptr<ChildProcess> shell(const std::string& script) {
    return place_.launch({"/bin/sh", "-ec", "cd '" KVTIER_SOURCE_DIR "'; " + script},
                         {"KVTIER_SOCKET=" + place_.socket(), "KVTIER_HOST_BYTES=32MiB",
                          "KVTIER_HOST_HEADROOM=0", "PYTHONDONTWRITEBYTECODE=1"});
  }
  void expect_example_runs(const std::string& row) {
    const std::vector<std::string> commands = commands_of_row(row);
    ASSERT_EQ(commands.size(), 1U) << row;
    const std::unique_ptr<ChildProcess> daemon = place_.start();
    ASSERT_NE(daemon, nullptr) << place_.output();
    EXPECT_EQ(shell(commands[0])->wait(), 0) << place_.output();
    EXPECT_NE(place_.output().find("computed 4, read 4 of 4"), std::string::npos) << place_.output();
  }
  // `start` in the background and `then`, pasted in one go; the shell ends what it started.
  void expect_daemon_serves(const std::string& start, const std::string& then) {
    const auto script = shell("trap 'kill $!; wait $! || true; rm -r \"$d\"' EXIT; " + start + "\n" + then);
    EXPECT_EQ(script->wait(), 0) << place_.output();
    EXPECT_NE(place_.output().find("health"), std::string::npos) << place_.output();
  }

  DaemonPlace place_;
};

TEST_F(Readme, the_row_of_c_runs) {
  expect_example_runs("an engine in C");
}

TEST_F(Readme, the_row_of_cpp_runs) {
  expect_example_runs("an engine in C++");
}

TEST_F(Readme, the_row_of_python_runs) {
#ifdef KVTIER_PYTHON3
  expect_example_runs("an engine in Python");
#else
  GTEST_SKIP() << "this build has no Python module";
#endif
}

TEST_F(Readme, the_row_of_the_plan_runs) {
  const std::vector<std::string> commands = commands_of_row("how much memory a model needs");
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(shell(commands[0])->wait(), 0) << place_.output();
  EXPECT_NE(place_.output().find("42949672960 (40 GiB, 42.95 GB)"), std::string::npos) << place_.output();
}

TEST_F(Readme, a_daemon_by_hand_runs) {
  const std::vector<std::string> commands = commands_of_row("by hand");
  ASSERT_EQ(commands.size(), 2U);
  expect_daemon_serves(commands[0], commands[1]);
}

// "The same with ... at the end": the row by hand up to its last command.
TEST_F(Readme, a_daemon_behind_the_keeper_runs) {
  const std::vector<std::string> by_hand = commands_of_row("by hand");
  const std::vector<std::string> keeper = commands_of_row("restarts stay warm, no systemd");
  ASSERT_EQ(by_hand.size(), 2U);
  ASSERT_GE(keeper.size(), 1U);
  const std::string place = by_hand[0].substr(0, by_hand[0].rfind(';') + 1);
  expect_daemon_serves(place + " " + keeper[0], by_hand[1]);
}

// All that a reader builds by README.md is what cmake --install and the rows need.
TEST_F(Readme, the_build_line_names_what_the_rows_use) {
  const std::string readme = read_file(KVTIER_SOURCE_DIR "/README.md");
  const std::size_t at = readme.find("ninja -C build ");
  const std::string targets = readme.substr(at, readme.find('`', at) - at) + " ";
  for (const char* target : {" kvtierd ", " kvtier-keeper ", " kvctl ", " kvclient_shared ", " _kvclient "})
    EXPECT_NE(targets.find(target), std::string::npos) << target << targets;
}

}  // namespace
}  // namespace kvtier::test
