// Clients that die, stop, or live in another PID namespace.

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <map>

#include "libkvclient/wire/counters_reader.h"
#include "tests/system/cache_client.h"
#include "tests/system/daemon_process.h"
#include "tests/system/wire_client.h"

namespace kvtier::test {
namespace {

// What the daemon counts, by name. It publishes at least twice a second.
std::map<std::string, std::uint64_t> counters_of(const DaemonPlace& place) {
  std::map<std::string, std::uint64_t> values;
  const Result<CountersReader> reader = CountersReader::open(place.runtime_dir() + "/counters");
  if (!reader.is_ok()) return values;
  for (const CounterSample& each : reader.value().read()) values[each.name] = each.value;
  return values;
}

class ClientDeath : public testing::Test {
 protected:
  void SetUp() override {
    daemon_ = place_.start();
    ASSERT_NE(daemon_, nullptr) << place_.output();
  }
  bool reaches(const std::string& counter, std::uint64_t value) {
    return eventually([&] { return counters_of(place_)[counter] == value; });
  }
  // A child that reports one byte when it is where the test wants it, then lives until it is killed.
  template <class Body>
  pid_t child_at(Body body) {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const pid_t child = in_child([&] {
      const char report = body() ? 'y' : 'n';
      (void)!::write(ends[1], &report, 1);
      while (true) ::pause();
      return 0;
    });
    ::close(ends[1]);
    char report = 0;
    EXPECT_EQ(::read(ends[0], &report, 1), 1);
    EXPECT_EQ(report, 'y') << place_.output();
    ::close(ends[0]);
    return child;
  }
  static void kill(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  CacheClient::Options options(const std::string& model = "m") {
    return {.socket = place_.socket(), .model = model};
  }

  DaemonPlace place_;
  std::unique_ptr<ChildProcess> daemon_;
};

// 50 leases and 10 open reservations come back with the process; another client's blocks stay exact.
TEST_F(ClientDeath, R08_leases_and_reservations_come_back) {
  CacheClient other(options());
  ASSERT_EQ(other.code(), KVC_OK) << other.error();
  ASSERT_EQ(other.store(1, 0, 50), 50u);
  const pid_t child = child_at([&] {
    static CacheClient dying(options());
    return dying.hold(1, 50) == 50 && dying.reserve_and_forget(2, 0, 10) == 10;
  });
  EXPECT_TRUE(reaches("sessions", 2));
  EXPECT_TRUE(reaches("blocks_writing", 10));
  kill(child);
  EXPECT_TRUE(reaches("blocks_writing", 0)) << "reservations rolled back";
  EXPECT_TRUE(reaches("sessions", 1));
  EXPECT_TRUE(reaches("zombies", 0));
  EXPECT_EQ(counters_of(place_)["slots_quarantined"], 0u);
  EXPECT_EQ(other.store(2, 0, 10), 10u) << "what it had reserved is free for another";
  const CacheClient::Read read = other.read(1, 50);
  EXPECT_EQ(read.blocks, 50u);
  EXPECT_EQ(read.wrong_blocks, 0u);
}

// a client in its own PID namespace, with a small pid that is busy here (1) or not, lives and dies as
// any.
TEST_F(ClientDeath, R09_a_pid_namespace_of_its_own_proves_nothing_and_hurts_nothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "a PID namespace needs root";
  std::array<int, 2> ends{-1, -1};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t parent = in_child([&] {
    if (::unshare(CLONE_NEWPID) != 0) return 9;
    const pid_t inner = ::fork();  // pid 1 of the new namespace: busy here
    if (inner == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      static CacheClient client(options());
      const char report = client.code() == KVC_OK && client.works(7) ? 'y' : 'n';
      (void)!::write(ends[1], &report, 1);
      while (true) {
        if (!client.ping(5 * kNsPerSecond)) ::_exit(1);
        ::usleep(10'000);
      }
    }
    int status = 0;
    ::waitpid(inner, &status, 0);
    return 0;
  });
  ::close(ends[1]);
  char report = 0;
  ASSERT_EQ(::read(ends[0], &report, 1), 1);
  EXPECT_EQ(report, 'y') << place_.output();
  EXPECT_TRUE(reaches("sessions", 1));
  ::sleep(1);
  EXPECT_EQ(counters_of(place_)["sessions"], 1u) << "a live client is never reaped";
  EXPECT_EQ(::waitpid(parent, nullptr, WNOHANG), 0);
  ::kill(parent, SIGKILL);  // takes the inner process with it
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(reaches("sessions", 0));
  EXPECT_TRUE(reaches("zombies", 0));
}

// A stopped client holds its pins; nobody else is disturbed, and its blocks are not reused under it.
TEST_F(ClientDeath, a_stopped_client_holds_what_it_holds_and_no_more) {
  CacheClient other(options());
  ASSERT_EQ(other.store(1, 0, 20), 20u);
  const pid_t child = child_at([&] {
    static CacheClient stopped(options());
    return stopped.hold(1, 20) == 20;
  });
  ::kill(child, SIGSTOP);
  const std::size_t whole_tier = 32 * 1024 * 1024 / kBlockBytes;
  for (std::size_t i = 0; i < 2 * whole_tier; i += 16) (void)other.store(100 + i, 0, 16);
  const CacheClient::Read read = other.read(1, 20);
  EXPECT_EQ(read.blocks, 20u) << "leased blocks are not evicted";
  EXPECT_EQ(read.wrong_blocks, 0u);
  EXPECT_TRUE(other.ping(kPatienceNs));
  kill(child);
  EXPECT_TRUE(reaches("sessions", 1));
  for (std::size_t i = 0; i < 2 * whole_tier; i += 16) (void)other.store(9000 + i, 0, 16);
  EXPECT_EQ(other.match(1, 20), 0u) << "its leases are gone";
}

TEST_F(ClientDeath, many_deaths_leave_nothing_behind) {
  CacheClient other(options());
  ASSERT_EQ(other.store(1, 0, 8), 8u);
  for (int i = 0; i < 40; ++i) {
    const auto chain = static_cast<std::uint64_t>(1000 + i);
    const pid_t child = child_at([&] {
      static CacheClient dying(options());
      return dying.store(chain, 0, 4) == 4 && dying.hold(1, 8) == 8 &&
             dying.reserve_and_forget(chain + 5000, 0, 4) == 4;
    });
    kill(child);
  }
  EXPECT_TRUE(reaches("sessions", 1));
  EXPECT_TRUE(reaches("zombies", 0));
  EXPECT_TRUE(reaches("blocks_writing", 0));
  EXPECT_EQ(other.read(1, 8).wrong_blocks, 0u);
}

TEST_F(ClientDeath, a_clean_close_leaves_no_zombie_while_the_process_lives) {
  {
    CacheClient closing(options());
    ASSERT_EQ(closing.store(3, 0, 4), 4u);
  }
  EXPECT_TRUE(reaches("sessions", 0));
  EXPECT_TRUE(reaches("zombies", 0));
  CacheClient next(options());
  EXPECT_EQ(next.read(3, 4).blocks, 4u);
}

}  // namespace
}  // namespace kvtier::test
