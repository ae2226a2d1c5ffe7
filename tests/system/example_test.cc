// The examples in C, C++ and Python, as built here, beside a real daemon.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/system/daemon_fixture.h"

namespace kvtier::test {
namespace {

struct Example {
  const char* language;
  std::vector<std::string> command;
};

std::vector<Example> examples() {
  std::vector<Example> all = {{"c", {program("kvclient_example_share_c")}},
                              {"cc", {program("kvclient_example_share_cc")}}};
#ifdef KVTIER_PYTHON3
  all.push_back({"py", {KVTIER_PYTHON3, KVTIER_SOURCE_DIR "/libkvclient/examples/share.py"}});
#endif
  return all;
}

struct Outcome {
  int exit_code = -1;
  std::string said;
};

Outcome run(const Example& example, const DaemonPlace& place) {
  const std::string output = place.file(example.language) + ".said";
  ChildProcess child({.command = example.command,
                      .environment = {"KVTIER_SOCKET=" + place.socket(),
                                      "PYTHONPATH=" KVTIER_BINARY_DIR "/python", "PYTHONDONTWRITEBYTECODE=1"},
                      .output_path = output});
  const int exit_code = child.wait();
  return {exit_code, read_file(output)};
}

// Each computes into an empty cache, and finds in a second run what it wrote.
TEST(Example, two_runs_share_the_blocks) {
  for (const Example& example : examples()) {
    SCOPED_TRACE(example.language);
    DaemonPlace place;
    const std::unique_ptr<ChildProcess> daemon = place.start();
    ASSERT_NE(daemon, nullptr) << place.output();
    for (const char* wanted : {"computed 4, read 4 of 4", "computed 0, read 4 of 4"}) {
      const Outcome done = run(example, place);
      EXPECT_EQ(done.exit_code, 0) << done.said;
      EXPECT_NE(done.said.find(wanted), std::string::npos) << done.said;
      EXPECT_NE(done.said.find("block 3 begins with 4"), std::string::npos) << done.said;
    }
  }
}

// One model, one prompt: the spec's and the keys' bytes are the same in all languages.
TEST(Example, each_language_reads_what_another_computed) {
  DaemonPlace place;
  const std::unique_ptr<ChildProcess> daemon = place.start();
  ASSERT_NE(daemon, nullptr) << place.output();
  const char* wanted = "computed 4, read 4 of 4";
  for (const Example& example : examples()) {
    const Outcome done = run(example, place);
    EXPECT_EQ(done.exit_code, 0) << example.language << done.said;
    EXPECT_NE(done.said.find(wanted), std::string::npos) << example.language << done.said;
    wanted = "computed 0, read 4 of 4";
  }
}

// What a daemon of before left on disk is read, not computed.
TEST(Example, reads_from_disk_what_was_computed_before_a_restart) {
  for (const Example& example : examples()) {
    SCOPED_TRACE(example.language);
    DaemonPlace place;
    std::filesystem::create_directory(place.file("disk"));
    place.write_config(
        "nvme:\n  segment_bytes: 8MiB\n  headroom: 1MiB\n  write_policy: through\n  paths:\n    - {dir: " +
        place.file("disk") + ", bytes: 33MiB}\n");
    for (const char* wanted : {"computed 4, read 4 of 4", "computed 0, read 4 of 4"}) {
      const std::unique_ptr<ChildProcess> daemon = place.start();
      ASSERT_NE(daemon, nullptr) << place.output();
      const Outcome done = run(example, place);
      EXPECT_NE(done.said.find(wanted), std::string::npos) << done.said << place.output();
      EXPECT_TRUE(eventually([&] {
        return counters_of(place)["demotions"] + counters_of(place)["disk_recovered"] >= 4;
      })) << place.output();
      daemon->signal(SIGTERM);
      EXPECT_EQ(daemon->wait(), 0) << place.output();
    }
  }
}

TEST(Example, two_samples_of_a_prompt_have_its_blocks_in_common) {
  DaemonPlace place;
  const std::unique_ptr<ChildProcess> daemon = place.start();
  ASSERT_NE(daemon, nullptr) << place.output();
  for (const char* wanted : {"0 of 40 tokens were there", "32 of 40 tokens were there"}) {
    const Outcome done = run({"sequence", {program("kvclient_example_sequence_cc")}}, place);
    EXPECT_EQ(done.exit_code, 0) << done.said;
    EXPECT_NE(done.said.find(wanted), std::string::npos) << done.said;
    EXPECT_NE(done.said.find("2 of 4 blocks are in common"), std::string::npos) << done.said;
    EXPECT_NE(done.said.find("token 55 is 56"), std::string::npos) << done.said;
  }
}

TEST(Example, without_a_daemon_it_says_why) {
  for (const Example& example : examples()) {
    const DaemonPlace place;
    const Outcome done = run(example, place);
    EXPECT_EQ(done.exit_code, 1) << example.language;
    EXPECT_NE(done.said.find(place.socket()), std::string::npos) << example.language << done.said;
  }
}

}  // namespace
}  // namespace kvtier::test
