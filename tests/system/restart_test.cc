// The daemon's death and return, under kvtier-keeper and without.

#include <gtest/gtest.h>

#include "tests/system/cache_client.h"
#include "tests/system/daemon_process.h"

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

// calls end in bounded time while the daemon is away; afterwards the client is back by itself.
TEST(Restart, R11_a_client_comes_back_by_itself) {
  DaemonPlace place;
  std::unique_ptr<ChildProcess> daemon = place.start();
  ASSERT_NE(daemon, nullptr) << place.output();
  CacheClient client({.socket = place.socket(), .deadline_ns = kNsPerSecond});
  ASSERT_TRUE(client.works(1)) << client.error();
  daemon->signal(SIGKILL);
  daemon->wait();
  EXPECT_TRUE(eventually([&] { return !client.ping(100 * kNsPerMs); }));
  EXPECT_EQ(client.store(2, 0, 1), 0u) << "fails open";
  daemon = place.start();
  ASSERT_NE(daemon, nullptr) << place.output();
  EXPECT_TRUE(eventually([&] { return client.works(3); })) << client.status().last_error;
  EXPECT_GE(client.status().sessions_count, 2u);
}

TEST(Restart, a_lease_of_before_stays_readable_after_the_daemons_death) {
  DaemonPlace place;
  const std::unique_ptr<ChildProcess> daemon = place.start();
  ASSERT_NE(daemon, nullptr) << place.output();
  CacheClient client({.socket = place.socket()});
  ASSERT_EQ(client.store(1, 0, 8), 8u);
  kvc_lease* lease = nullptr;
  ASSERT_EQ(kvc_lease_create(client.client(), 8, &lease), KVC_OK);
  const std::vector<kvc_key> keys = chain_keys(1, 0, 8);
  ASSERT_EQ(kvc_acquire(client.space(), keys.data(), 8, 0, 0, lease), KVC_OK);
  daemon->signal(SIGKILL);
  daemon->wait();
  const auto* bytes = static_cast<const unsigned char*>(kvc_lease_blocks(lease)[7]);
  unsigned sum = 0;
  for (std::size_t i = 0; i < kBlockBytes; ++i) sum += bytes[i];
  EXPECT_NE(sum, 0u);
  kvc_lease_destroy(lease);
}

TEST(Keeper, a_clean_end_ends_the_keeper_with_the_daemons_code) {
  DaemonPlace place;
  const std::unique_ptr<ChildProcess> keeper = place.launch(under_keeper(place));
  ASSERT_TRUE(place.notify().wait_for("READY=1", kPatienceNs)) << place.output();
  keeper->signal(SIGTERM);
  EXPECT_EQ(keeper->wait(), 0) << place.output();
}

TEST(Keeper, wrong_settings_are_not_tried_again) {
  DaemonPlace place;
  std::vector<std::string> command = under_keeper(place);
  command.insert(command.end(), {"--set", "host.byte=1"});
  EXPECT_EQ(place.launch(command)->wait(), 2);
}

TEST(Keeper, a_second_instance_ends_with_3_under_the_keeper_too) {
  DaemonPlace place;
  const std::unique_ptr<ChildProcess> first = place.start();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(place.launch(under_keeper(place))->wait(), 3);
}

// The blocks of before the crash are found again, and every byte is right: by a client that lived through it,
// and by a new one.
TEST(Keeper, a_killed_daemon_comes_back_warm) {
  DaemonPlace place;
  const std::unique_ptr<ChildProcess> keeper = place.launch(under_keeper(place));
  ASSERT_TRUE(place.notify().wait_for("READY=1", kPatienceNs)) << place.output();
  CacheClient client({.socket = place.socket()});
  ASSERT_EQ(client.store(1, 0, 40), 40u) << client.error();
  // Only blocks whose checksum was taken come back: the background agent has to have been there.
  ::sleep(2);
  const pid_t before = daemon_pid(place);
  ::kill(before, SIGKILL);
  ASSERT_TRUE(place.notify().wait_for("READY=1", kPatienceNs)) << place.output();
  EXPECT_NE(daemon_pid(place), before);
  EXPECT_TRUE(eventually([&] { return client.match(1, 40) == 40; }))
      << client.match(1, 40) << " " << client.status().last_error << place.output();
  EXPECT_EQ(client.read(1, 40).wrong_blocks, 0u);
  EXPECT_TRUE(eventually([&] { return client.works(2); }));
  CacheClient fresh({.socket = place.socket()});
  EXPECT_EQ(fresh.read(1, 40).blocks, 40u);
  EXPECT_EQ(fresh.read(1, 40).wrong_blocks, 0u);
  keeper->signal(SIGTERM);
  EXPECT_EQ(keeper->wait(), 0);
}

TEST(Keeper, killed_again_and_again_under_load_no_wrong_byte) {
  DaemonPlace place;
  const std::unique_ptr<ChildProcess> keeper = place.launch(under_keeper(place));
  ASSERT_TRUE(place.notify().wait_for("READY=1", kPatienceNs)) << place.output();
  CacheClient client({.socket = place.socket(), .deadline_ns = 2 * kNsPerSecond});
  std::size_t wrong = 0;
  for (std::uint64_t round = 0; round < 8; ++round) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      (void)client.store(100 * round + i, 0, 4);
      wrong += client.read(100 * round + i / 2, 4).wrong_blocks;
    }
    ::kill(daemon_pid(place), SIGKILL);
    ASSERT_TRUE(place.notify().wait_for("READY=1", kPatienceNs)) << place.output();
    EXPECT_TRUE(eventually([&] { return client.works(100'000 + round); })) << client.status().last_error;
    for (std::uint64_t i = 0; i < 20; ++i) wrong += client.read(100 * round + i, 4).wrong_blocks;
  }
  EXPECT_EQ(wrong, 0u);
}

// The same through a service manager's descriptor store, played by the test.
TEST(ServiceManager, a_killed_daemon_comes_back_warm_from_its_descriptor_store) {
  DaemonPlace place;
  const std::vector<std::string> variable = {"KVTIER_FD_STORE=1"};
  std::unique_ptr<ChildProcess> daemon = place.launch(place.command(), variable);
  ASSERT_TRUE(place.notify().wait_for("READY=1", kPatienceNs)) << place.output();
  CacheClient client({.socket = place.socket()});
  ASSERT_EQ(client.store(1, 0, 40), 40u) << client.error();
  ::sleep(2);
  daemon->signal(SIGKILL);
  daemon->wait();
  place.notify().drain();
  std::vector<std::pair<std::string, int>> kept;
  for (const auto& [name, fd] : place.notify().stored()) kept.emplace_back(name, fd.get());
  EXPECT_GT(kept.size(), 4u);
  daemon = place.launch(place.command(), variable, kept);
  ASSERT_TRUE(place.notify().wait_for("READY=1", kPatienceNs)) << place.output();
  EXPECT_TRUE(eventually([&] {
    place.notify().drain();
    return client.match(1, 40) == 40;
  })) << client.status().last_error
      << place.output();
  EXPECT_EQ(client.read(1, 40).wrong_blocks, 0u);
  EXPECT_GE(client.status().resumed_count, 1u) << "it proved its channel";
}

}  // namespace
}  // namespace kvtier::test
