#pragma once
// Tests with one daemon: its place, kvctl, what its counters say.

#include <gtest/gtest.h>

#include "tests/system/daemon_process.h"

namespace kvtier::test {

/// What the daemon of a place counts, by name, as it published it last: it does so twice a second or more often.
std::map<std::string, std::uint64_t> counters_of(const DaemonPlace& place);

struct User {
  uid_t uid = 0;  ///< 0: ours
  std::vector<gid_t> groups;
};

class DaemonTest : public testing::Test {
 protected:
  /// Ready to serve; otherwise place_.output() says why not.
  [[nodiscard]] bool start(const std::vector<std::string>& more = {});

  /// kvctl's exit status.
  int kvctl(const std::vector<std::string>& words, const User& user = {});
  /// What the last kvctl wrote.
  [[nodiscard]] std::string said() const { return read_file(said_path_); }

  [[nodiscard]] bool counter_becomes(const std::string& name, std::uint64_t value) const;
  [[nodiscard]] bool counter_reaches(const std::string& name, std::uint64_t least) const;

  DaemonPlace place_;
  std::unique_ptr<ChildProcess> daemon_;

 private:
  std::string said_path_;
  int kvctl_calls_ = 0;
};

/// The same with the daemon at its default settings started.
class RunningDaemonTest : public DaemonTest {
 protected:
  void SetUp() override { ASSERT_TRUE(start()) << place_.output(); }
};

}  // namespace kvtier::test
