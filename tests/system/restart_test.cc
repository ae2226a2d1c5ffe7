// The daemon's death and return, under kvtier-keeper and without.

#include <gtest/gtest.h>

#include "tests/system/cache_client.h"
#include "tests/system/daemon_fixture.h"

namespace kvtier::test {
namespace {

pid_t daemon_pid(const DaemonPlace& place) {
  return static_cast<pid_t>(std::atoi(read_file(place.socket() + ".lock").c_str()));
}

std::vector<std::string> under_keeper(const DaemonPlace& place) {
  std::vector<std::string> command = {program("kvtier-keeper"), "--"};
  const std::vector<std::string> daemon = place.command();
  command.insert(command.end(), daemon.begin(), daemon.end());
  return command;
}

using Restart = RunningDaemonTest;

class WarmRestart : public DaemonTest {
 protected:
  [[nodiscard]] bool is_ready() { return place_.notify().wait_for("READY=1", kPatienceNs); }
  // Stores a chain that comes back: only blocks whose checksum was taken do.
  void store_with_checksums(CacheClient& client, std::size_t count) {
    ASSERT_EQ(client.store(1, 0, count), count) << client.error();
    ASSERT_TRUE(counter_becomes("checksums", count)) << place_.output();
  }
  // The client has noticed the death, and proved its channel to the new daemon.
  void expect_resumed(CacheClient& client) {
    EXPECT_TRUE(eventually([&] {
      place_.notify().drain();  // as a service manager does, that the daemon can go on
      return client.status().resumed_count >= 1;
    })) << client.status().last_error
        << place_.output();
  }
  void expect_warm(CacheClient& client, std::size_t count) {
    CacheClient::Read read;
    EXPECT_TRUE(eventually([&] {
      place_.notify().drain();
      read = client.read(1, count);
      return read.blocks == count;
    })) << read.blocks
        << " " << client.status().last_error << place_.output();
    EXPECT_EQ(read.wrong_blocks, 0u);
  }
};

class Keeper : public WarmRestart {
 protected:
  // Killed, it would leave a daemon behind that ends while its folder goes.
  ~Keeper() override {
    if (!keeper_) return;
    keeper_->signal(SIGTERM);
    keeper_->wait();
  }
  void launch_keeper() {
    keeper_ = place_.launch(under_keeper(place_));
    ASSERT_TRUE(is_ready()) << place_.output();
  }
  std::unique_ptr<ChildProcess> keeper_;
};

// calls end in bounded time while the daemon is away; afterwards the client is back by itself.
TEST_F(Restart, R11_a_client_comes_back_by_itself) {
  CacheClient client({.socket = place_.socket(), .deadline_ns = kNsPerSecond});
  ASSERT_TRUE(client.works(1)) << client.error();
  daemon_->signal(SIGKILL);
  daemon_->wait();
  EXPECT_TRUE(eventually([&] { return !client.ping(100 * kNsPerMs); }));
  EXPECT_EQ(client.store(2, 0, 1), 0u) << "fails open";
  ASSERT_TRUE(start()) << place_.output();
  EXPECT_TRUE(eventually([&] { return client.works(3); })) << client.status().last_error;
  EXPECT_GE(client.status().sessions_count, 2u);
}

TEST_F(Restart, a_lease_of_before_stays_readable_after_the_daemons_death) {
  CacheClient client({.socket = place_.socket()});
  ASSERT_EQ(client.store(1, 0, 8), 8u);
  kvc_lease* lease = nullptr;
  ASSERT_EQ(kvc_lease_create(client.client(), 8, &lease), KVC_OK);
  const std::vector<kvc_key> keys = chain_keys(1, 0, 8);
  ASSERT_EQ(kvc_acquire(client.space(), keys.data(), 8, 0, 0, lease), KVC_OK);
  daemon_->signal(SIGKILL);
  daemon_->wait();
  const auto* bytes = static_cast<const unsigned char*>(kvc_lease_blocks(lease)[7]);
  unsigned sum = 0;
  for (std::size_t i = 0; i < kBlockBytes; ++i) sum += bytes[i];
  EXPECT_NE(sum, 0u);
  kvc_lease_destroy(lease);
}

TEST_F(Keeper, a_clean_end_ends_the_keeper_with_the_daemons_code) {
  ASSERT_NO_FATAL_FAILURE(launch_keeper());
  keeper_->signal(SIGTERM);
  EXPECT_EQ(keeper_->wait(), 0) << place_.output();
}

TEST_F(Keeper, wrong_settings_are_not_tried_again) {
  std::vector<std::string> command = under_keeper(place_);
  command.insert(command.end(), {"--set", "host.byte=1"});
  EXPECT_EQ(place_.launch(command)->wait(), 2);
}

// Not for ever: a program that cannot start ends the keeper with its own status.
TEST_F(Keeper, a_start_that_fails_again_and_again_is_given_up) {
  EXPECT_EQ(place_.launch({program("kvtier-keeper"), "--", "/bin/false"})->wait(), 1) << place_.output();
  EXPECT_NE(place_.output().find("/bin/false ended with 1; 5 starts in a row failed: giving up"),
            std::string::npos)
      << place_.output();
  EXPECT_EQ(place_.launch({program("kvtier-keeper"), "--", "/bin/sh", "-c", "kill -KILL $$"})->wait(),
            128 + SIGKILL)
      << place_.output();
}

// Serving sets the count back: deaths that follow on a start are none of a start that fails.
TEST_F(Keeper, deaths_of_a_daemon_that_served_are_no_failed_starts) {
  ASSERT_NO_FATAL_FAILURE(launch_keeper());
  for (int death = 0; death < 7; ++death) {
    ::kill(daemon_pid(place_), SIGKILL);
    ASSERT_TRUE(is_ready()) << death << place_.output();
  }
}

TEST_F(Keeper, a_second_instance_ends_with_3_under_the_keeper_too) {
  ASSERT_TRUE(start()) << place_.output();
  EXPECT_EQ(place_.launch(under_keeper(place_))->wait(), 3);
}

// The blocks of before the crash are found again, and every byte is right: by a client that lived through it,
// and by a new one.
TEST_F(Keeper, a_killed_daemon_comes_back_warm) {
  ASSERT_NO_FATAL_FAILURE(launch_keeper());
  CacheClient client({.socket = place_.socket()});
  ASSERT_NO_FATAL_FAILURE(store_with_checksums(client, 40));
  const pid_t before = daemon_pid(place_);
  ::kill(before, SIGKILL);
  ASSERT_TRUE(is_ready()) << place_.output();
  EXPECT_NE(daemon_pid(place_), before);
  expect_resumed(client);
  expect_warm(client, 40);
  EXPECT_NE(place_.output().find("warm start blocks_to_verify=40 blocks_dropped=0 fd_store=keeper"),
            std::string::npos)
      << place_.output();
  EXPECT_TRUE(eventually([&] {
    return place_.output().find("warm start is complete blocks_adopted=40 blocks_dropped=0") !=
           std::string::npos;
  })) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 0) << said();
  EXPECT_NE(said().find("warm: 40 blocks adopted, 0 dropped, 0 wait"), std::string::npos) << said();
  EXPECT_TRUE(eventually([&] { return client.works(2); }));
  CacheClient fresh({.socket = place_.socket()});
  expect_warm(fresh, 40);
  keeper_->signal(SIGTERM);
  EXPECT_EQ(keeper_->wait(), 0);
}

TEST_F(Keeper, killed_again_and_again_under_load_no_wrong_byte) {
  ASSERT_NO_FATAL_FAILURE(launch_keeper());
  CacheClient client({.socket = place_.socket(), .deadline_ns = 2 * kNsPerSecond});
  std::size_t wrong = 0;
  for (std::uint64_t round = 0; round < 8; ++round) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      (void)client.store(100 * round + i, 0, 4);
      wrong += client.read(100 * round + i / 2, 4).wrong_blocks;
    }
    ::kill(daemon_pid(place_), SIGKILL);
    ASSERT_TRUE(is_ready()) << place_.output();
    EXPECT_TRUE(eventually([&] { return client.works(100'000 + round); })) << client.status().last_error;
    for (std::uint64_t i = 0; i < 20; ++i) wrong += client.read(100 * round + i, 4).wrong_blocks;
  }
  EXPECT_EQ(wrong, 0u);
}

// Nothing had a checksum yet: warm, and it says that nothing is left.
TEST_F(Keeper, a_warm_start_that_keeps_nothing_says_so) {
  ASSERT_NO_FATAL_FAILURE(launch_keeper());
  CacheClient client({.socket = place_.socket()});
  ASSERT_EQ(client.store(1, 0, 40), 40U) << client.error();
  ::kill(daemon_pid(place_), SIGKILL);
  ASSERT_TRUE(is_ready()) << place_.output();
  EXPECT_NE(place_.output().find("warm start blocks_to_verify="), std::string::npos) << place_.output();
  std::string told;
  EXPECT_TRUE(eventually([&] {
    (void)kvctl({"--json", "status"});
    told = said();
    return told.find("\"blocks_unverified\":0}") != std::string::npos;
  })) << told;
  const auto number_of = [&](const std::string& name) {
    const std::size_t at = told.find("\"" + name + "\":");
    return at == std::string::npos ? 0 : std::atoi(told.c_str() + at + name.size() + 3);
  };
  EXPECT_EQ(number_of("blocks_adopted") + number_of("blocks_dropped"), 40) << told;
}

// The same through a service manager's descriptor store, played by the test.
TEST_F(WarmRestart, a_killed_daemon_comes_back_warm_from_its_descriptor_store) {
  const std::vector<std::string> variable = {"KVTIER_FD_STORE=1"};
  daemon_ = place_.launch(place_.command(), variable);
  ASSERT_TRUE(is_ready()) << place_.output();
  CacheClient client({.socket = place_.socket()});
  ASSERT_NO_FATAL_FAILURE(store_with_checksums(client, 40));
  daemon_->signal(SIGKILL);
  daemon_->wait();
  place_.notify().drain();
  std::vector<std::pair<std::string, int>> kept;
  for (const auto& [name, fd] : place_.notify().stored()) kept.emplace_back(name, fd.get());
  EXPECT_GT(kept.size(), 4u);
  daemon_ = place_.launch(place_.command(), variable, kept);
  ASSERT_TRUE(is_ready()) << place_.output();
  expect_resumed(client);
  expect_warm(client, 40);
}

}  // namespace
}  // namespace kvtier::test
