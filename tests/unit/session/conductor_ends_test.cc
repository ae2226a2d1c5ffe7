// How sessions end, and how their processes come back to them.

#include <sys/wait.h>

#include "tests/unit/session/conductor_fixture.h"

namespace kvtier::test {
namespace {

using ConductorEnds = ConductorTest;

TEST_F(ConductorEnds, hang_up_leaves_a_zombie_and_goodbye_leaves_nothing) {
  std::unique_ptr<WireClient> client = open_client();
  client.reset();
  turn();
  EXPECT_EQ(store_->stats().zombies, 1u) << "this process lives: its memory stays";
  client = open_client();
  ASSERT_TRUE(send_message(client->socket(), message_header(MessageType::kGoodbye, sizeof(MessageHeader), 0))
                  .is_ok());
  turn();
  EXPECT_EQ(store_->stats().zombies, 1u);
  EXPECT_EQ(store_->stats().sessions, 1u);
}

TEST_F(ConductorEnds, a_commit_that_was_a_clients_last_word_is_heard) {
  const std::unique_ptr<WireClient> client = open_client();
  client->submit_echo(1);
  ::shutdown(client->socket(), SHUT_RDWR);
  turn();
  EXPECT_EQ(conductor_->stats().completions_dropped, 1u) << "the command was taken before the ring was left";
}

// memory returns at the process's exit, which the pidfd tells.
TEST_F(ConductorEnds, R08_exit_of_the_process_ends_its_session) {
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<std::unique_ptr<WireClient>> client = WireClient::open(path_, "team");
    ::pause();
    std::_Exit(client.is_ok() ? 0 : 1);
  }
  while (store_->stats().sessions == 0) turn();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  while (conductor_->stats().exits == 0) conductor_->wait(clock_.now_ns(), kNever);
  EXPECT_EQ(store_->stats().sessions, 0u);
  EXPECT_EQ(store_->stats().zombies, 0u);
}

// a client may give up its first attempt to come back before a daemon that starts slowly reads it.
TEST_F(ConductorEnds, R11_a_client_that_hung_up_before_its_welcome_is_resumed_later) {
  const Hello again = proof_of(*open_client());
  ASSERT_NO_FATAL_FAILURE(restart_warm());
  make_conductor();
  {
    const UniqueFd gone = connect_to(path_, SOCK_SEQPACKET);
    ASSERT_TRUE(send_message(gone.get(), again).is_ok());
  }
  turn();
  EXPECT_EQ(conductor_->stats().hellos_refused, 1u);
  EXPECT_EQ(store_->stats().zombies, 1u) << "still to come back";
  const std::unique_ptr<WireClient> client = come_back(again);
  EXPECT_EQ(store_->stats().sessions, 1u);
  EXPECT_EQ(store_->stats().zombies, 0u);
}

// An administrator ends sessions, not engines: the process comes back to what it had.
TEST_F(ConductorEnds, a_kicked_client_that_proves_its_session_is_resumed) {
  std::unique_ptr<WireClient> client = open_client();
  ASSERT_NO_FATAL_FAILURE(kick(*client));
  client = come_back(proof_of(*client));
  ASSERT_NE(client, nullptr);
  EXPECT_TRUE(echoes(*client));
  EXPECT_EQ(store_->stats().sessions, 1u);
  EXPECT_EQ(store_->stats().zombies, 0u);
}

// Same secret, another process: a child has none of its parent's mappings.
TEST_F(ConductorEnds, a_child_with_its_parents_secret_gets_a_session_of_its_own) {
  const std::unique_ptr<WireClient> client = open_client();
  const Hello again = proof_of(*client);
  ASSERT_NO_FATAL_FAILURE(kick(*client));
  const pid_t child = ::fork();
  if (child == 0) {
    const UniqueFd socket = connect_to(path_, SOCK_SEQPACKET);
    (void)send_message(socket.get(), again);
    ::pause();
    std::_Exit(0);
  }
  while (store_->stats().sessions == 1) turn();
  EXPECT_EQ(store_->stats().sessions_resumed, 0u);
  EXPECT_EQ(store_->stats().zombies, 1u) << "the parent may still come back";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_NE(come_back(again), nullptr);
}

TEST_F(ConductorEnds, F05_a_limit_changes_by_a_reload_and_by_a_warm_restart_too) {
  const std::unique_ptr<WireClient> client = open_client();
  EXPECT_EQ(team_limit(), 0u);
  NamespaceConfig changed = namespace_;
  changed.host_bytes_max = 8 << 20;
  conductor_->set_namespaces({changed});
  EXPECT_EQ(team_limit(), 8u << 20);
  ASSERT_NO_FATAL_FAILURE(restart_warm());
  EXPECT_EQ(team_limit(), 8u << 20) << "the reload is what the next instance finds";
  namespace_.host_bytes_max = 4 << 20;
  make_conductor();
  EXPECT_EQ(team_limit(), 4u << 20) << "its configuration counts";
}

}  // namespace
}  // namespace kvtier::test
