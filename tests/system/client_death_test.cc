// Clients that die, stop, or live in another PID namespace.

#include <gtest/gtest.h>
#include <sched.h>

#include <array>

#include "tests/system/cache_client.h"
#include "tests/system/daemon_fixture.h"
#include "tests/system/wire_client.h"

namespace kvtier::test {
namespace {

class ClientDeath : public RunningDaemonTest {
 protected:
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
  EXPECT_TRUE(counter_becomes("sessions", 2));
  EXPECT_TRUE(counter_becomes("blocks_writing", 10));
  kill(child);
  EXPECT_TRUE(counter_becomes("blocks_writing", 0)) << "reservations rolled back";
  EXPECT_TRUE(counter_becomes("sessions", 1));
  EXPECT_TRUE(counter_becomes("zombies", 0));
  EXPECT_EQ(counters_of(place_)["slots_quarantined"], 0u);
  EXPECT_EQ(other.store(2, 0, 10), 10u) << "what it had reserved is free for another";
  const CacheClient::Read read = other.read(1, 50);
  EXPECT_EQ(read.blocks, 50u);
  EXPECT_EQ(read.wrong_blocks, 0u);
}

// A kick ends a session, not an engine: it reconnects and writes where it wrote before, in all of the tier.
TEST_F(ClientDeath, an_engine_that_was_kicked_goes_on) {
  constexpr std::size_t kMostOfTheTier = 400;
  CacheClient engine(options());
  ASSERT_EQ(engine.store(1, 0, kMostOfTheTier), kMostOfTheTier) << engine.error();
  ASSERT_EQ(engine.hold(1, 10), 10u);
  ASSERT_EQ(kvctl({"kick", "--pid", std::to_string(::getpid())}), 0) << said();
  ASSERT_TRUE(eventually([&] { return engine.status().resumed_count == 1; })) << place_.output();
  ASSERT_TRUE(eventually([&] { return engine.works(2); })) << "its spaces are registered again";
  EXPECT_EQ(engine.store(3, 0, kMostOfTheTier), kMostOfTheTier) << engine.error();
  EXPECT_EQ(engine.read(1, 10).wrong_blocks, 0u);
  EXPECT_EQ(engine.match(1, 10), 10u) << "what it leases stayed";
  EXPECT_TRUE(counter_becomes("zombies", 0));
}

// The smallest number that no process of ours has.
pid_t unused_pid() {
  pid_t pid = 2;
  while (::kill(pid, 0) == 0 || errno != ESRCH) ++pid;
  return pid;
}

// Forks until a child has this number in the new PID namespace, whose init (1) we are. The body runs in that
// child.
template <class Body>
int as_pid(pid_t wanted, Body body) {
  if (::getpid() == wanted) return body();
  while (true) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(::getpid() == wanted ? body() : 77);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (child >= wanted) return WIFEXITED(status) ? WEXITSTATUS(status) : 9;
  }
}

// a client in its own PID namespace, with a number that here is (a) nobody's, (b) somebody else's,
// lives and dies as any.
TEST_F(ClientDeath, R09_a_pid_namespace_of_its_own_proves_nothing_and_hurts_nothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "a PID namespace needs root";
  for (const pid_t number : {unused_pid(), pid_t{1}}) {
    SCOPED_TRACE(number);
    std::array<int, 2> ends{-1, -1};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const pid_t parent = in_child([&] {
      if (::unshare(CLONE_NEWPID) != 0) return 9;
      const pid_t inner = ::fork();
      if (inner == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::_exit(as_pid(number, [&] {
          CacheClient client(options());
          bool is_fine = client.code() == KVC_OK && client.works(7);
          // Many rounds of the conductor, in each of which it could be taken for dead.
          for (int i = 0; i < 200; ++i) is_fine = is_fine && client.ping(kPatienceNs);
          is_fine = is_fine && client.works(8) && client.status().sessions_count == 1;
          const char report = is_fine ? 'y' : 'n';
          (void)!::write(ends[1], &report, 1);
          while (true) ::pause();
          return 0;
        }));
      }
      ::waitpid(inner, nullptr, 0);
      return 0;
    });
    ::close(ends[1]);
    char report = 0;
    ASSERT_EQ(::read(ends[0], &report, 1), 1);
    ::close(ends[0]);
    EXPECT_EQ(report, 'y') << place_.output();
    EXPECT_TRUE(counter_becomes("sessions", 1)) << "a live client is never reaped";
    EXPECT_EQ(::waitpid(parent, nullptr, WNOHANG), 0);
    ::kill(parent, SIGKILL);  // takes the init of the namespace, and with it everything in there
    ::waitpid(parent, nullptr, 0);
    EXPECT_TRUE(counter_becomes("sessions", 0));
    EXPECT_TRUE(counter_becomes("zombies", 0));
  }
}

// L-01: a stopped client holds its pins for as long as it likes; nobody else is disturbed, and its blocks are
// not reused under it.
TEST_F(ClientDeath, a_stopped_client_holds_what_it_holds_and_no_more) {
  CacheClient other(options());
  ASSERT_EQ(other.store(1, 0, 20), 20u);
  const pid_t child = child_at([&] {
    static CacheClient stopped(options());
    return stopped.hold(1, 20) == 20;
  });
  ASSERT_TRUE(pause_child(child));
  const std::size_t whole_tier = 32 * 1024 * 1024 / kBlockBytes;
  for (std::size_t i = 0; i < 2 * whole_tier; i += 16) (void)other.store(100 + i, 0, 16);
  const CacheClient::Read read = other.read(1, 20);
  EXPECT_EQ(read.blocks, 20u) << "leased blocks are not evicted";
  EXPECT_EQ(read.wrong_blocks, 0u);
  EXPECT_TRUE(other.ping(kPatienceNs));
  kill(child);
  EXPECT_TRUE(counter_becomes("sessions", 1));
  EXPECT_EQ(other.store(9000, 0, whole_tier), whole_tier) << "its leases are gone";
  EXPECT_EQ(other.match(1, 20), 0u);
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
  EXPECT_TRUE(counter_becomes("sessions", 1));
  EXPECT_TRUE(counter_becomes("zombies", 0));
  EXPECT_TRUE(counter_becomes("blocks_writing", 0));
  EXPECT_EQ(other.read(1, 8).wrong_blocks, 0u);
}

TEST_F(ClientDeath, a_clean_close_leaves_no_zombie_while_the_process_lives) {
  {
    CacheClient closing(options());
    ASSERT_EQ(closing.store(3, 0, 4), 4u);
  }
  EXPECT_TRUE(counter_becomes("sessions", 0));
  EXPECT_TRUE(counter_becomes("zombies", 0));
  CacheClient next(options());
  EXPECT_EQ(next.read(3, 4).blocks, 4u);
}

}  // namespace
}  // namespace kvtier::test
