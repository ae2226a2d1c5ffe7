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

TEST_F(Kvctl, a_space_without_its_namespace_is_refused_by_all_listings) {
  CacheClient client({.socket = place_.socket()});
  ASSERT_TRUE(client.works(1)) << client.error();
  const int refused = kvctl({"ls", "--space", "99"});
  EXPECT_NE(refused, 0);
  EXPECT_EQ(kvctl({"tree", "--space", "99"}), refused) << said();
}

TEST_F(Kvctl, a_wrong_subcommand_is_told_the_nearest_one) {
  EXPECT_EQ(kvctl({"statsu"}), kUsage);
  EXPECT_NE(said().find("did you mean status?"), std::string::npos) << said();
  EXPECT_EQ(kvctl({"config", "chek"}), kUsage);
  EXPECT_NE(said().find("did you mean check?"), std::string::npos) << said();
  EXPECT_EQ(kvctl({"qqqqqqqqqq"}), kUsage);
  EXPECT_NE(said().find("there are status, "), std::string::npos) << said();
}

TEST_F(Kvctl, status_says_how_full_the_pool_is) {
  EXPECT_EQ(kvctl({"status"}), 0) << said();
  EXPECT_NE(said().find("0 B used, 32 MiB free of 32 MiB"), std::string::npos) << said();
  CacheClient client({.socket = place_.socket()});
  ASSERT_EQ(client.store(1, 0, 16), 16U) << client.error();
  EXPECT_EQ(kvctl({"status"}), 0) << said();
  EXPECT_EQ(said().find("0 B used"), std::string::npos) << said();
  EXPECT_NE(said().find(" free of 32 MiB"), std::string::npos) << said();
}

// Pins outlive their client: what keeps the memory is seen without knowing a key.
TEST_F(Kvctl, pins_are_seen_also_those_of_a_closed_client) {
  {
    CacheClient client({.socket = place_.socket()});
    ASSERT_EQ(client.store(1, 0, 3), 3U) << client.error();
    const std::vector<kvc_key> keys = chain_keys(1, 0, 2);
    ASSERT_EQ(kvc_pin(client.space(), keys.data(), 2, kPatienceNs * 10, kPatienceNs, nullptr), KVC_OK);
  }
  EXPECT_TRUE(eventually([&] {
    return kvctl({"clients"}) == 0 && said().find("closed") != std::string::npos;
  })) << said();
  EXPECT_NE(said().find("2 (128 KiB)"), std::string::npos) << said();
  EXPECT_NE(said().find(" " + std::to_string(::getpid()) + "  "), std::string::npos)
      << "who it was: " << said();
  EXPECT_EQ(kvctl({"status"}), 0) << said();
  EXPECT_NE(said().find("3 blocks, 2 pinned"), std::string::npos) << said();
  EXPECT_EQ(kvctl({"tree"}), 0) << said();
  EXPECT_NE(said().find("2 pinned"), std::string::npos) << said();
  EXPECT_EQ(kvctl({"namespaces"}), 0) << said();
  EXPECT_NE(said().find("128 KiB"), std::string::npos) << said();
  EXPECT_EQ(kvctl({"--json", "ls", "--pinned"}), 0) << said();
  EXPECT_NE(said().find("pinned_ms"), said().rfind("pinned_ms")) << said();
}

// Slots that a client holds ahead of need are seen, apart from those that it writes.
TEST_F(Kvctl, clients_shows_each_stock) {
  CacheClient client({.socket = place_.socket()});
  const std::vector<kvc_key> keys = chain_keys(1, 0, 1);
  kvc_slot slot{};
  kvc_reserve_options options{};
  options.struct_size = sizeof options;
  options.deadline_ns = kPatienceNs;
  EXPECT_EQ(kvctl({"--json", "clients"}), 0);
  EXPECT_NE(said().find("\"stocked_blocks\":0,\"stocked_bytes\":0,"), std::string::npos) << said();
  options.flags = KVC_NO_CLAIM;
  ASSERT_EQ(kvc_reserve(client.space(), keys.data(), 1, &options, &slot), KVC_OK) << client.error();
  ASSERT_EQ(kvc_abort(client.space(), &slot, 1, KVC_WAIT, kPatienceNs), KVC_OK);
  EXPECT_TRUE(eventually([&] {
    return kvctl({"--json", "clients"}) == 0 && said().find("\"stocked_blocks\":0,") == std::string::npos;
  })) << said();
  EXPECT_NE(said().find("\"writing_blocks\":0,"), std::string::npos) << said();
  EXPECT_EQ(kvctl({"clients"}), 0);
  EXPECT_NE(said().find("WRITING  "), std::string::npos) << said();
  EXPECT_NE(said().find("STOCK"), std::string::npos) << said();
  EXPECT_NE(said().find(" KiB)"), std::string::npos) << said();
}

// A pinned leaf keeps its whole path: an administrator reads why nothing went.
TEST_F(Kvctl, a_flush_says_of_every_block_that_stays_why) {
  CacheClient client({.socket = place_.socket()});
  ASSERT_EQ(client.store(1, 0, 8), 8U) << client.error();
  const std::vector<kvc_key> keys = chain_keys(1, 0, 8);
  ASSERT_EQ(kvc_pin(client.space(), &keys[5], 1, kPatienceNs * 10, kPatienceNs, nullptr), KVC_OK);
  // The end of the chain may still be summed when it is tried; then it goes the next time.
  EXPECT_TRUE(eventually([&] {
    return kvctl({"flush", "--all"}) == 0 && client.match(1, 8) == 6;
  })) << said();
  EXPECT_EQ(kvctl({"flush", "--all"}), 0);
  EXPECT_NE(said().find("0 blocks evicted, 6 kept: 1 pinned, 5 held by nobody, but above"), std::string::npos)
      << said();
  EXPECT_EQ(kvctl({"--json", "evict", "-n", "default"}), 0);
  for (const char* field : {"\"kept\":6", "\"kept_pinned\":1", "\"kept_parents\":5", "\"kept_leased\":0"})
    EXPECT_NE(said().find(field), std::string::npos) << field << said();
}

}  // namespace
}  // namespace kvtier::test
