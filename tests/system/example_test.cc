// The C example, built against the public header and the shared library, beside a real daemon.

#include <gtest/gtest.h>

#include "tests/system/daemon_process.h"

namespace kvtier::test {
namespace {

TEST(Example, two_runs_share_the_blocks) {
  DaemonPlace place;
  const std::unique_ptr<ChildProcess> daemon = place.start();
  ASSERT_NE(daemon, nullptr) << place.output();
  for (const char* wanted : {"computed 4, read 4 of 4", "computed 0, read 4 of 4"}) {
    const std::string output = place.file(wanted);
    ChildProcess example({.command = {program("kvclient_example_share")},
                          .environment = {"KVTIER_SOCKET=" + place.socket()},
                          .output_path = output});
    EXPECT_EQ(example.wait(), 0) << read_file(output);
    EXPECT_NE(read_file(output).find(wanted), std::string::npos) << read_file(output);
    EXPECT_NE(read_file(output).find("block 3 begins with 4"), std::string::npos) << read_file(output);
  }
}

TEST(Example, without_a_daemon_it_says_why) {
  DaemonPlace place;
  ChildProcess example({.command = {program("kvclient_example_share")},
                        .environment = {"KVTIER_SOCKET=" + place.socket()},
                        .output_path = place.file("said")});
  EXPECT_EQ(example.wait(), 1);
  EXPECT_NE(read_file(place.file("said")).find("open: "), std::string::npos) << read_file(place.file("said"));
}

}  // namespace
}  // namespace kvtier::test
