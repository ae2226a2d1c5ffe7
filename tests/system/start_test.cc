// How the real daemon starts, owns its place, and ends.

#include <dirent.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "libkvclient/wire/counters_reader.h"
#include "tests/system/daemon_process.h"
#include "tests/system/wire_client.h"

namespace kvtier::test {
namespace {

constexpr int kAlreadyRunning = 3;

mode_t mode_of(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

bool serves(const DaemonPlace& place) {
  const Result<std::unique_ptr<WireClient>> client = WireClient::open(place.socket(), "default");
  return client.is_ok() && client.value()->echoes_within(kPatienceNs);
}

// Connects until nobody can: the owner takes none of them while it is stopped, and still lives.
std::vector<UniqueFd> full_backlog(const std::string& path) {
  std::vector<UniqueFd> sockets;
  do {
    sockets.push_back(connect_to(path, SOCK_SEQPACKET | SOCK_NONBLOCK));
  } while (sockets.back().is_open());
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_GT(sockets.size(), 1U);
  return sockets;
}

std::size_t shared_memory_names() {
  std::size_t count = 0;
  if (DIR* dir = ::opendir("/dev/shm")) {
    while (::readdir(dir) != nullptr) ++count;
    ::closedir(dir);
  }
  return count;
}

// A thread of the idle class dies when a busy machine has time for it, seconds later; its process keeps socket and memory for
// as long.
TEST(Start, no_thread_keeps_a_killed_daemon_from_ending) {
  DaemonPlace place;
  const std::unique_ptr<ChildProcess> daemon = place.start();
  ASSERT_NE(daemon, nullptr) << place.output();
  EXPECT_TRUE(serves(place));
  std::size_t threads = 0;
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/" + std::to_string(daemon->pid()) + "/task")) {
    const int policy = ::sched_getscheduler(std::atoi(thread.path().filename().c_str()));
    EXPECT_NE(policy, SCHED_IDLE) << read_file(thread.path() / "comm");
    ++threads;
  }
  EXPECT_GE(threads, 4U);
}

TEST(Start, SIGTERM_and_SIGINT_end_with_0_and_leave_no_socket) {
  for (const int number : {SIGTERM, SIGINT}) {
    DaemonPlace place;
    const std::unique_ptr<ChildProcess> daemon = place.start();
    ASSERT_NE(daemon, nullptr) << place.output();
    EXPECT_TRUE(serves(place));
    daemon->signal(number);
    EXPECT_EQ(daemon->wait(), 0) << place.output();
    EXPECT_NE(::access(place.socket().c_str(), F_OK), 0);
    place.notify().drain();
    EXPECT_TRUE(place.notify().has_heard("STOPPING=1"));
  }
}

TEST(Start, wrong_settings_and_flags_end_with_2) {
  DaemonPlace place;
  EXPECT_EQ(place.launch(place.command({"host.byte=1GiB"}))->wait(), 2);
  EXPECT_NE(place.output().find("host.bytes"), std::string::npos) << place.output();
  EXPECT_EQ(place.launch({program("kvtierd"), "--nonsense"})->wait(), 2);
  EXPECT_EQ(place.launch({program("kvtierd"), "--config", "/nonexistent.yaml"})->wait(), 2);
  EXPECT_NE(place.output().find("name a file that is there"), std::string::npos) << place.output();
  EXPECT_EQ(place.launch({program("kvtierd"), "--version"})->wait(), 0);
  EXPECT_EQ(place.launch(place.command({"host.bytes=32MiB"}))->is_running(), true);
}

TEST(Start, a_tier_that_does_not_fit_ends_with_4_and_names_the_knob) {
  DaemonPlace place;
  EXPECT_EQ(place.launch(place.command({"host.bytes=60TiB"}))->wait(), 4);
  EXPECT_NE(place.output().find("host.bytes"), std::string::npos) << place.output();
}

// S-09: connect works at READY=1, not only soon after.
TEST(Start, S09_ready_means_that_connect_works) {
  for (int i = 0; i < 5; ++i) {
    DaemonPlace place;
    const std::unique_ptr<ChildProcess> daemon = place.start();
    ASSERT_NE(daemon, nullptr) << place.output();
    EXPECT_TRUE(connect_to(place.socket(), SOCK_SEQPACKET).is_open());
    EXPECT_TRUE(place.notify().has_heard("EXTEND_TIMEOUT_USEC=")) << "while memory is reserved";
    EXPECT_TRUE(place.notify().has_heard("STATUS=reserving memory: 100 %"));
  }
}

TEST(Start, S09_the_watchdog_is_fed_while_the_conductor_runs) {
  DaemonPlace place;
  const std::unique_ptr<ChildProcess> daemon = place.launch(place.command(), {"WATCHDOG_USEC=1000000"});
  EXPECT_TRUE(place.notify().wait_for("WATCHDOG=1", kPatienceNs)) << place.output();
  EXPECT_TRUE(place.notify().wait_for("WATCHDOG=1", kPatienceNs));
}

// kill -9 leaves nothing that adds up: no names in /dev/shm, and each start succeeds.
TEST(Start, R01_killed_twenty_times_starts_again) {
  DaemonPlace place;
  const std::size_t names_before = shared_memory_names();
  for (int i = 0; i < 20; ++i) {
    const std::unique_ptr<ChildProcess> daemon = place.start();
    ASSERT_NE(daemon, nullptr) << "start " << i << ": " << place.output();
    if (i % 5 == 0) {
      EXPECT_TRUE(serves(place));
    }
    daemon->signal(SIGKILL);
    daemon->wait();
    EXPECT_EQ(shared_memory_names(), names_before);
  }
}

// R-03 (1) is R-01's socket file; here (2): a second instance, also while the first one is stopped.
TEST(Start, R03_second_instance_ends_with_3_and_takes_nothing) {
  DaemonPlace place;
  const std::unique_ptr<ChildProcess> first = place.start();
  ASSERT_NE(first, nullptr) << place.output();
  const std::string holder = "already running (pid " + std::to_string(first->pid()) + ")";
  for (const bool is_stopped : {false, true}) {
    std::vector<UniqueFd> backlog;
    if (is_stopped) {
      ASSERT_TRUE(first->pause());
      backlog = full_backlog(place.socket());
    }
    EXPECT_EQ(place.launch(place.command())->wait(), kAlreadyRunning);
    EXPECT_NE(place.output().find(holder), std::string::npos) << place.output();
    EXPECT_NE(
        place.output().find("stop that one, or give this one its own runtime_dir, socket and admin_socket"),
        std::string::npos)
        << place.output();
  }
  first->resume();
  EXPECT_TRUE(serves(place)) << "the first one is still reachable";
  const Result<CountersReader> counters = CountersReader::open(place.runtime_dir() + "/counters");
  ASSERT_TRUE(counters.is_ok()) << counters.status().to_string();
  EXPECT_EQ(counters.value().identity().pid, static_cast<std::uint32_t>(first->pid()))
      << "the second instance must not replace the first one's counters";
}

// Sharing a part of the place is as bad as sharing all of it: the counters stay those of the first one.
TEST(Start, R03_an_instance_that_shares_a_socket_or_the_directory_ends_with_3_and_takes_nothing) {
  DaemonPlace place;
  const std::unique_ptr<ChildProcess> first = place.start();
  ASSERT_NE(first, nullptr) << place.output();
  const std::string other = place.file("run/other.sock");
  const std::string other_admin = place.file("run/other-admin.sock");
  const std::vector<std::vector<std::string>> sharers = {
      {"socket=" + other, "admin_socket=" + other_admin},
      {"socket=" + other, "runtime_dir=" + place.file("elsewhere")}};
  for (const std::vector<std::string>& more : sharers) {
    EXPECT_EQ(place.launch(place.command(more))->wait(), kAlreadyRunning) << place.output();
    const Result<CountersReader> counters = CountersReader::open(place.runtime_dir() + "/counters");
    ASSERT_TRUE(counters.is_ok()) << counters.status().to_string();
    EXPECT_EQ(counters.value().identity().pid, static_cast<std::uint32_t>(first->pid()));
  }
  EXPECT_TRUE(serves(place));
}

// Starting again cannot help: 2, and the setting to correct.
TEST(Start, a_place_that_cannot_be_used_ends_with_2_and_names_the_setting) {
  DaemonPlace place;
  for (const std::string setting : {"runtime_dir", "socket", "admin_socket"}) {
    const std::string value = "/proc/nonexistent/" + setting;
    EXPECT_EQ(place.launch(place.command({setting + "=" + value}))->wait(), 2) << place.output();
    EXPECT_NE(place.output().find("kvtierd: " + setting + ": "), std::string::npos) << place.output();
  }
}

TEST(Start, R03_a_regular_file_at_the_path_is_kept) {
  DaemonPlace place;
  ::mkdir(place.runtime_dir().c_str(), 0750);
  std::ofstream(place.socket()) << "precious";
  EXPECT_NE(place.launch(place.command())->wait(), 0);
  EXPECT_EQ(read_file(place.socket()), "precious");
}

// S-14: modes do not come from the umask; another uid cannot connect.
TEST(Start, S14_modes_and_strangers) {
  DaemonPlace place;
  const mode_t before = ::umask(0);
  const std::unique_ptr<ChildProcess> daemon = place.start();
  ::umask(before);
  ASSERT_NE(daemon, nullptr) << place.output();
  EXPECT_EQ(mode_of(place.socket()), 0660u);
  EXPECT_EQ(mode_of(place.socket() + ".lock"), 0600u);
  EXPECT_EQ(mode_of(place.runtime_dir()) & 07027, 0u) << "nobody else writes or looks in";
  if (::geteuid() != 0) GTEST_SKIP() << "another uid needs root";
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(9);
    ::_exit(connect_to(place.socket(), SOCK_SEQPACKET).is_open() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace kvtier::test
