// What kvctl's commands do and refuse on a real daemon, and their exit statuses.

#include <gtest/gtest.h>

#include "tests/system/cache_client.h"
#include "tests/system/daemon_fixture.h"

namespace kvtier::test {
namespace {

constexpr int kFailed = 3;
constexpr int kUsage = 64;

class Kvctl : public RunningDaemonTest {};

// Space 0 means "all" on the inside: a command line never reaches it, nor a space that is not there.
TEST_F(Kvctl, an_eviction_of_a_space_that_is_none_evicts_nothing) {
  CacheClient first({.socket = place_.socket(), .model = "first"});
  CacheClient second({.socket = place_.socket(), .model = "second"});
  ASSERT_EQ(first.store(1, 0, 2), 2U) << first.error();
  ASSERT_EQ(second.store(1, 0, 2), 2U) << second.error();
  for (const char* verb : {"evict", "flush"}) {
    EXPECT_EQ(kvctl({verb, "-n", "default", "--space", "0"}), kUsage) << said();
    EXPECT_EQ(kvctl({verb, "-n", "default", "--space", "99"}), kFailed) << said();
    EXPECT_NE(said().find("no space 99"), std::string::npos) << said();
  }
  EXPECT_EQ(first.match(1, 2) + second.match(1, 2), 4U);
  EXPECT_EQ(kvctl({"flush", "-n", "default", "--space", "2"}), 0) << said();
  EXPECT_EQ(first.match(1, 2) + second.match(1, 2), 2U);
}

TEST_F(Kvctl, listings_refuse_what_is_not_there) {
  CacheClient client({.socket = place_.socket()});
  ASSERT_TRUE(client.works(1)) << client.error();
  for (const char* verb : {"ls", "tree"}) {
    EXPECT_EQ(kvctl({verb, "-n", "nope"}), kFailed) << verb << said();
    EXPECT_EQ(kvctl({verb, "-n", "default", "--space", "99"}), kFailed) << verb << said();
    EXPECT_EQ(kvctl({verb, "-n", "default", "--space", "1"}), 0) << verb << said();
  }
}

}  // namespace
}  // namespace kvtier::test
