#include "daemon/session/peer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "libkvclient/base/fault_point.h"

namespace kvtier {
namespace {

struct Pair {
  UniqueFd ours;
  UniqueFd theirs;
};

Pair socket_pair() {
  std::array<int, 2> fds{-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds.data()), 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

UniqueFd open_pidfd(pid_t pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

pid_t start_sleeper() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    std::_Exit(0);
  }
  return child;
}

void stop(pid_t child) {
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(Peer, credentials_are_the_kernels) {
  const Pair pair = socket_pair();
  const Result<Peer> peer = read_peer(pair.ours.get());
  ASSERT_TRUE(peer.is_ok());
  EXPECT_EQ(peer.value().pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(peer.value().uid, ::geteuid());
  EXPECT_TRUE(peer.value().is_in_group(::getegid()));
}

TEST(Peer, pidfd_is_of_the_peer) {
  const Pair pair = socket_pair();
  const Peer peer = read_peer(pair.ours.get()).value();
  const Result<UniqueFd> pidfd = find_peer_pidfd(pair.ours.get(), peer, {});
  ASSERT_TRUE(pidfd.is_ok()) << pidfd.status().to_string();
  EXPECT_EQ(pid_of_pidfd(pidfd.value().get()).value(), peer.pid);
  EXPECT_TRUE(are_same_process(pidfd.value().get(), open_pidfd(::getpid()).get()));
}

// The true reason, and none of a kernel that were too old.
TEST(Peer, without_descriptors_the_limit_is_named) {
  const Pair pair = socket_pair();
  const Peer peer = read_peer(pair.ours.get()).value();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const Result<UniqueFd> pidfd = find_peer_pidfd(pair.ours.get(), peer, {});
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(pidfd.code(), Code::kNoSpace) << pidfd.status().to_string();
  EXPECT_NE(pidfd.status().message().find("LimitNOFILE"), std::string::npos) << pidfd.status().message();
}

TEST(Peer, what_is_no_pidfd_is_seen) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(pid_of_pidfd(null.get()).code(), Code::kInvalid);
  EXPECT_FALSE(pid_of_pidfd(-1).is_ok());
}

TEST(Peer, another_process_is_not_the_same) {
  const pid_t child = start_sleeper();
  const UniqueFd of_child = open_pidfd(child);
  const UniqueFd own = open_pidfd(::getpid());
  EXPECT_FALSE(are_same_process(of_child.get(), own.get()));
  stop(child);
  EXPECT_FALSE(are_same_process(of_child.get(), of_child.get())) << "an exited process is nobody";
}

#ifdef KVTIER_FAULTS
struct OldKernel : testing::Test {
  void SetUp() override { fault_arm("session.peer_pidfd=fail", 1); }
  void TearDown() override { fault_arm("", 1); }
};

TEST_F(OldKernel, offered_pidfd_of_another_process_is_denied) {
  const Pair pair = socket_pair();
  const Peer peer = read_peer(pair.ours.get()).value();
  const pid_t child = start_sleeper();
  EXPECT_EQ(find_peer_pidfd(pair.ours.get(), peer, open_pidfd(child)).code(), Code::kDenied);
  EXPECT_TRUE(find_peer_pidfd(pair.ours.get(), peer, open_pidfd(::getpid())).is_ok());
  stop(child);
}

TEST_F(OldKernel, pidfd_is_opened_while_the_socket_is_open) {
  Pair pair = socket_pair();
  const Peer peer = read_peer(pair.ours.get()).value();
  EXPECT_TRUE(find_peer_pidfd(pair.ours.get(), peer, {}).is_ok());
  pair.theirs.reset();
  EXPECT_EQ(find_peer_pidfd(pair.ours.get(), peer, {}).code(), Code::kUnsupported);
}

TEST_F(OldKernel, invisible_peer_needs_its_own_pidfd) {
  const Pair pair = socket_pair();
  Peer peer = read_peer(pair.ours.get()).value();
  peer.pid = 0;
  EXPECT_EQ(find_peer_pidfd(pair.ours.get(), peer, {}).code(), Code::kUnsupported);
}
#endif

}  // namespace
}  // namespace kvtier
