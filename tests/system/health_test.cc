// What kvctl says of a daemon that works, hangs, is absent; and how a daemon ends when a part of it fails.

#include <gtest/gtest.h>

#include "tests/system/cache_client.h"
#include "tests/system/daemon_fixture.h"

namespace kvtier::test {
namespace {

class Health : public DaemonTest {};

TEST_F(Health, U07_a_daemon_that_works_and_its_clients_versions) {
  ASSERT_TRUE(start()) << place_.output();
  CacheClient client({.socket = place_.socket()});
  ASSERT_TRUE(client.works(1));
  EXPECT_EQ(kvctl({"status"}), 0) << said();
  EXPECT_EQ(kvctl({"stat"}), 0) << said();
  EXPECT_EQ(kvctl({"--json", "clients"}), 0) << said();
  EXPECT_NE(said().find(KVTIER_VERSION), std::string::npos);
  EXPECT_NE(said().find("cache-client"), std::string::npos);
}

// Somebody tidied the directory: the daemon notices, and engines and kvctl find it again.
TEST_F(Health, deleted_sockets_are_made_again) {
  ASSERT_TRUE(start()) << place_.output();
  CacheClient old({.socket = place_.socket()});
  ASSERT_TRUE(old.works(1)) << old.error();
  ASSERT_EQ(::unlink(place_.socket().c_str()), 0);
  ASSERT_EQ(::unlink(place_.admin_socket().c_str()), 0);
  EXPECT_TRUE(eventually([&] { return kvctl({"status"}) == 0; })) << said();
  EXPECT_TRUE(old.works(2)) << "who was connected stays so";
  CacheClient fresh({.socket = place_.socket()});
  EXPECT_TRUE(fresh.works(3)) << fresh.error();
  EXPECT_EQ(old.status().sessions_count, 1U);
}

// In the words of the daemon's side, whichever descriptor would have been the one too many; and health says it too.
TEST_F(Health, a_daemon_without_descriptors_says_so_to_clients_and_in_health) {
  std::vector<std::string> command = {"/bin/sh", "-ec", R"(ulimit -n 100; exec "$0" "$@")"};
  const std::vector<std::string> daemon = place_.command({"limits.clients_max=60"});
  command.insert(command.end(), daemon.begin(), daemon.end());
  daemon_ = place_.launch(command);
  ASSERT_TRUE(place_.notify().wait_for("READY=1", kPatienceNs)) << place_.output();
  std::vector<std::unique_ptr<CacheClient>> clients;
  std::string refusal;
  while (refusal.empty() && clients.size() < 60) {
    clients.push_back(
        std::make_unique<CacheClient>(CacheClient::Options{.socket = place_.socket(), .flags = KVC_REQUIRE}));
    if (clients.back()->code() != KVC_OK) refusal = clients.back()->error();
  }
  EXPECT_NE(refusal.find("the daemon is out of descriptors; raise LimitNOFILE="), std::string::npos)
      << refusal;
  EXPECT_EQ(kvctl({"status"}), 1) << said();
  EXPECT_NE(said().find("of 100 descriptors are in use"), std::string::npos) << said();
  EXPECT_TRUE(clients.front()->works(1)) << "who is in is served";
  clients.clear();
  EXPECT_TRUE(eventually([&] { return kvctl({"status"}) == 0; })) << said();
}

TEST_F(Health, an_absent_daemon_is_2) {
  EXPECT_EQ(kvctl({"status"}), 2) << said();
  EXPECT_FALSE(said().empty());
}

// The counters file tells even while the daemon is stopped.
TEST_F(Health, a_stopped_daemon_is_down_for_status_and_readable_for_stat) {
  ASSERT_TRUE(start()) << place_.output();
  ASSERT_TRUE(daemon_->pause());
  EXPECT_EQ(kvctl({"status"}), 2) << said();
  const int stat = kvctl({"stat", "--file", place_.runtime_dir() + "/counters"});
  EXPECT_TRUE(stat == 0 || stat == 1) << stat << said();
  EXPECT_NE(said().find("host_bytes"), std::string::npos) << said();
  daemon_->resume();
  EXPECT_EQ(kvctl({"status"}), 0) << said();
}

// A stopped process cannot be made to let go: it is named, and who is refused for its sake is told whose.
TEST_F(Health, a_stopped_client_that_holds_most_of_the_tier_is_named) {
  ASSERT_TRUE(start()) << place_.output();
  constexpr std::size_t kHeld = 400;  // of the tier's 512
  CacheClient other({.socket = place_.socket()});
  ASSERT_EQ(other.store(1, 0, kHeld), kHeld) << other.error();
  const pid_t holder = in_child([&] {
    CacheClient client({.socket = place_.socket()});
    if (client.hold(1, kHeld) < kHeld) return 1;
    ::raise(SIGSTOP);
    return 0;
  });
  int status = 0;
  ASSERT_EQ(::waitpid(holder, &status, WUNTRACED), holder);
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_EQ(kvctl({"status"}), 1) << said();
  EXPECT_NE(said().find("pid " + std::to_string(holder)), std::string::npos) << said();
  EXPECT_EQ(said().find("pid " + std::to_string(::getpid()) + " "), std::string::npos)
      << "nobody else: " << said();
  EXPECT_EQ(other.refused_by(2, 200), holder) << "no_space names who leases the blocks";
  EXPECT_EQ(other.read(1, kHeld).wrong_blocks, 0U);
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return kvctl({"status"}) == 0; })) << said();
  EXPECT_EQ(other.store(3, 0, 200), 200U);
}

// Nor one that only reserved.
TEST_F(Health, a_stopped_client_that_has_reserved_the_whole_tier_is_named) {
  ASSERT_TRUE(start()) << place_.output();
  constexpr std::size_t kTier = 512;
  const pid_t holder = in_child([&] {
    CacheClient client({.socket = place_.socket()});
    if (client.reserve_and_forget(1, 0, kTier) < kTier) return 1;
    ::raise(SIGSTOP);
    return 0;
  });
  int status = 0;
  ASSERT_EQ(::waitpid(holder, &status, WUNTRACED), holder);
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_EQ(kvctl({"status"}), 0) << "in nobody's way: " << said();
  CacheClient other({.socket = place_.socket()});
  EXPECT_EQ(other.refused_by(2, 1, KVC_CAUSE_WRITER_BUSY), holder);
  EXPECT_EQ(kvctl({"status"}), 1) << said();
  EXPECT_NE(said().find("pid " + std::to_string(holder) + " (cache-client) has 512 blocks reserved"),
            std::string::npos)
      << said();
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return kvctl({"status"}) == 0; })) << said();
  EXPECT_EQ(other.store(3, 0, 200), 200U);
}

// U-09: what the counters say is what was done, wherever one looks.
TEST_F(Health, U09_stat_counts_what_clients_did) {
  ASSERT_TRUE(start()) << place_.output();
  CacheClient client({.socket = place_.socket()});
  ASSERT_EQ(client.store(1, 0, 5), 5U);
  ASSERT_EQ(client.read(1, 7).blocks, 5U);
  ASSERT_EQ(client.match(1, 7), 5U);
  const auto stat_says = [&](const std::string& field) {
    return eventually([&] {
      return kvctl({"--json", "stat"}) == 0 && said().find(field) != std::string::npos;
    });
  };
  EXPECT_TRUE(stat_says("\"hits_host\":5")) << said();
  EXPECT_TRUE(stat_says("\"commits\":5")) << said();
  EXPECT_TRUE(stat_says("\"blocks_ready\":5")) << said();
}

// S-11: a thread that fails ends the process, and not with 0.
TEST_F(Health, S11_a_failed_conductor_ends_the_daemon_with_70) {
#ifndef KVTIER_FAULTS
  GTEST_SKIP() << "needs a fault build (-DKVTIER_FAULTS=ON)";
#else
  const std::unique_ptr<ChildProcess> daemon =
      place_.launch(place_.command(), {"KVTIER_FAULTS=app.conductor=fail@20"});
  EXPECT_EQ(daemon->wait(), 70) << place_.output();
  EXPECT_NE(place_.output().find("conductor"), std::string::npos) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 2) << said();
#endif
}

// S-09: a slow start is told of, with its progress, and its time grows with it.
TEST_F(Health, S09_a_slow_start_reports_and_asks_for_time) {
#ifndef KVTIER_FAULTS
  GTEST_SKIP() << "needs a fault build (-DKVTIER_FAULTS=ON)";
#else
  std::unique_ptr<ChildProcess> daemon =
      place_.launch(place_.command({"host.bytes=128MiB", "host.slab_bytes=16MiB"}),
                    {"KVTIER_FAULTS=app.reserve=delay:400ms"});
  ASSERT_TRUE(place_.notify().wait_for("READY=1", kPatienceNs)) << place_.output();
  std::size_t reports = 0;
  std::size_t extensions = 0;
  for (const std::string& each : place_.notify().heard()) {
    reports += each.find("STATUS=reserving memory") != std::string::npos ? 1 : 0;
    extensions += each.find("EXTEND_TIMEOUT_USEC=") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(reports, 4u);
  EXPECT_EQ(extensions, reports);
#endif
}

}  // namespace
}  // namespace kvtier::test
