// Settings that lock, bound or change a running daemon, and the counters that tell of it.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/system/cache_client.h"
#include "tests/system/daemon_fixture.h"
#include "tests/system/wire_client.h"

namespace kvtier::test {
namespace {

constexpr int kNoMemory = 4;
constexpr std::uint64_t kTierBytes = 32 << 20;

std::uint64_t locked_bytes(pid_t pid) {
  const std::string status = read_file("/proc/" + std::to_string(pid) + "/status");
  const std::size_t at = status.find("VmLck:");
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + 6, nullptr, 10) * 1024;
}

class Settings : public DaemonTest {
 protected:
  // kvtierd under `ulimit LIMIT`; with a uid it is an ordinary user, whom RLIMIT_MEMLOCK binds.
  std::unique_ptr<ChildProcess> launch_limited(const std::vector<std::string>& more, const std::string& limit,
                                               uid_t uid = 0) {
    std::string words = "exec";
    for (const std::string& each : place_.command(more)) words += " '" + each + "'";
    return std::make_unique<ChildProcess>(
        ChildProcess::Options{.command = {"/bin/sh", "-c", "ulimit " + limit + " && " + words},
                              .environment = {"NOTIFY_SOCKET=" + place_.file("notify")},
                              .output_path = place_.file("output"),
                              .uid = uid});
  }
};

TEST_F(Settings, a_locked_tier_is_locked_and_says_so) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_MEMLOCK, &limit), 0);
  if (::geteuid() != 0 && limit.rlim_cur < 2 * kTierBytes) GTEST_SKIP() << "may not lock memory";
  ASSERT_TRUE(start({"host.lock=require"})) << place_.output();
  EXPECT_GE(locked_bytes(daemon_->pid()), kTierBytes);
  EXPECT_TRUE(counter_reaches("host_bytes_locked", kTierBytes));
  EXPECT_EQ(kvctl({"status"}), 0) << said();
  EXPECT_NE(said().find("32 MiB locked"), std::string::npos) << said();
}

TEST_F(Settings, a_lock_that_is_not_allowed_is_refused_or_shown) {
  if (::geteuid() != 0) GTEST_SKIP() << "another uid needs root";
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(::chown(place_.file("").c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(launch_limited({"host.lock=require"}, "-l 1024", kNobody)->wait(), kNoMemory);
  EXPECT_NE(place_.output().find("host.lock is require"), std::string::npos) << place_.output();
  EXPECT_NE(place_.output().find("RLIMIT_MEMLOCK is 1 MiB: raise it"), std::string::npos) << place_.output();
  const std::unique_ptr<ChildProcess> daemon = launch_limited({"host.lock=try"}, "-l 1024", kNobody);
  ASSERT_TRUE(place_.notify().wait_for("READY=1", kPatienceNs)) << place_.output();
  EXPECT_NE(place_.output().find("not all of the host tier is locked"), std::string::npos);
  EXPECT_EQ(kvctl({"status"}), 0) << said();
  EXPECT_NE(said().find("0 B locked"), std::string::npos) << said();
}

TEST_F(Settings, by_default_nothing_is_locked) {
  ASSERT_TRUE(start()) << place_.output();
  EXPECT_EQ(locked_bytes(daemon_->pid()), 0U);
  EXPECT_EQ(kvctl({"status"}), 0) << said();
  EXPECT_NE(said().find("0 B locked"), std::string::npos) << said();
}

TEST_F(Settings, too_few_descriptors_are_refused_with_the_knob) {
  EXPECT_EQ(launch_limited({"host.bytes=64MiB", "host.slab_bytes=2MiB"}, "-n 100")->wait(), kNoMemory);
  EXPECT_NE(place_.output().find("needed 192 for 32 slabs"), std::string::npos) << place_.output();
  EXPECT_NE(place_.output().find("allowed 100; raise LimitNOFILE"), std::string::npos) << place_.output();
}

// Who is refused is told why, and so is who looks at the health.
TEST_F(Settings, clients_beyond_the_descriptors_are_told_so) {
  daemon_ = launch_limited({"host.bytes=32MiB"}, "-n 90");
  ASSERT_TRUE(place_.notify().wait_for("READY=1", kPatienceNs)) << place_.output();
  std::vector<std::unique_ptr<WireClient>> clients;
  Status refused;
  while (refused.is_ok() && clients.size() < 90) {
    Result<std::unique_ptr<WireClient>> opened = WireClient::open(place_.socket(), "default");
    refused = opened.status();
    if (opened.is_ok()) clients.push_back(std::move(opened).value());
  }
  EXPECT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.message().find("Linux 6.5"), std::string::npos) << refused.message();
  EXPECT_TRUE(eventually([&] { return kvctl({"status"}) == 1; })) << said();
  EXPECT_NE(said().find("of 90 descriptors are in use"), std::string::npos) << said();
}

// What is marked live is in force after SIGHUP, and status shows what is in force.
TEST_F(Settings, a_reload_changes_what_is_live_and_nothing_else) {
  place_.write_config("host:\n  low_water_blocks: 64\n");
  ASSERT_TRUE(start()) << place_.output();
  place_.write_config("host:\n  low_water_blocks: 3\nindex:\n  blocks_max: 5000\n");
  daemon_->signal(SIGHUP);
  ASSERT_TRUE(place_.notify().wait_for("READY=1", kPatienceNs));
  EXPECT_TRUE(eventually([&] {
    return kvctl({"--json", "status"}) == 0 &&
           said().find(R"("host.low_water_blocks","value":"3")") != std::string::npos;
  })) << said();
  EXPECT_NE(said().find(R"("index.blocks_max","value":"0")"), std::string::npos) << said();
  EXPECT_NE(place_.output().find("setting needs a restart path=index.blocks_max"), std::string::npos);
}

// Two mistakes within the 10 s in which repetitions are held back.
TEST_F(Settings, each_refused_reload_and_each_change_of_a_namespace_is_in_the_log) {
  place_.write_config("host:\n  headroom: 1MiB\n");
  ASSERT_TRUE(start()) << place_.output();
  const std::vector<std::pair<std::string, std::string>> reloads = {
      {"log: {levl: info}\n", "log.levl: unknown setting"},
      {"hots: 1\n", "hots: unknown setting"},
      {"namespaces:\n  - {name: default, host_bytes_max: 16MiB}\n",
       "setting changed path=namespaces.default.host_bytes_max before=\"0 B\" after=\"16 MiB\""}};
  for (const auto& [text, line] : reloads) {
    place_.notify().drain();
    place_.write_config(text);
    daemon_->signal(SIGHUP);
    ASSERT_TRUE(place_.notify().wait_for("READY=1", kPatienceNs));
    EXPECT_NE(place_.output().find(line), std::string::npos) << place_.output();
  }
}

TEST_F(Settings, each_refused_client_is_in_the_log) {
  ASSERT_TRUE(start()) << place_.output();
  for (const std::string name : {"tenant-a", "tenant-b"}) {
    EXPECT_FALSE(WireClient::open(place_.socket(), name).is_ok());
    EXPECT_NE(place_.output().find("there is no namespace \\\"" + name), std::string::npos)
        << place_.output();
  }
}

TEST_F(Settings, counters_tell_of_sessions_bytes_and_time) {
  ASSERT_TRUE(start()) << place_.output();
  CacheClient client({.socket = place_.socket()});
  ASSERT_EQ(client.store(1, 0, 2), 2U) << client.error();
  EXPECT_TRUE(counter_reaches("committed_bytes", 2 * kBlockBytes));
  EXPECT_TRUE(counter_reaches("directory_entries", 2));
  EXPECT_TRUE(counter_reaches("directory_capacity", 2));
  EXPECT_TRUE(counter_reaches("namespaces", 1));
  EXPECT_TRUE(counter_reaches("spaces", 1));
  EXPECT_TRUE(counter_reaches("conductor_rounds", 1));
  EXPECT_TRUE(counter_reaches("conductor_work_ns", 1));
  EXPECT_TRUE(counter_reaches("uptime_seconds", 1));
  EXPECT_EQ(kvctl({"kick", std::to_string(::getpid())}), 0) << said();
  EXPECT_TRUE(counter_reaches("sessions_kicked", 1));
}

TEST_F(Settings, stat_without_permission_is_4) {
  if (::geteuid() != 0) GTEST_SKIP() << "another uid needs root";
  ASSERT_TRUE(start()) << place_.output();
  EXPECT_EQ(kvctl({"stat", "--file", place_.runtime_dir() + "/counters"}, {.uid = 65534}), 4) << said();
}

TEST_F(Settings, health_gives_up_on_a_stopped_daemon_in_seconds) {
  ASSERT_TRUE(start()) << place_.output();
  ASSERT_TRUE(daemon_->pause());
  EXPECT_EQ(kvctl({"health"}), 2);
  EXPECT_NE(said().find("within 2 s"), std::string::npos) << said();
}

TEST_F(Settings, check_finds_an_unknown_group) {
  std::vector<std::string> command = place_.command({"socket_group=no-such-group"});
  command.emplace_back("--check");
  EXPECT_EQ(place_.launch(command)->wait(), 2);
  EXPECT_NE(place_.output().find("is no group of this host"), std::string::npos) << place_.output();
}

}  // namespace
}  // namespace kvtier::test
