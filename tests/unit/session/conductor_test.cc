// The session layer over the real store, on one thread: clients speak raw wire.

#include "daemon/session/conductor.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <sstream>

#include "daemon/flow/admin.h"
#include "daemon/flow/stats.h"
#include "tests/support/memory_fd_store.h"
#include "tests/support/sim_client.h"
#include "tests/system/wire_client.h"
#include "tests/unit/session/scratch_dir.h"

namespace kvtier {
namespace {

using test::make_hello;
using test::receive_within;
using test::WireClient;

constexpr TimeNs kSoonNs = 5 * kNsPerSecond;

NamespaceConfig team() {
  NamespaceConfig config;
  config.name = "team";
  return config;
}

class ConductorTest : public testing::Test {
 protected:
  ConductorTest() {
    make_store();
    make_conductor();
  }

  void make_store() {
    store_.reset();
    StoreOptions options;
    options.host_bytes = 16 << 20;
    options.sessions_max = 4;
    store_ = Store::create(options, clock_, fds_).value();
  }

  void make_conductor() {
    conductor_.reset();
    std::unique_ptr<Listener> listener = Listener::open({.path = path_}).value();
    NamespaceConfig config = team();
    config.host_bytes_max = host_bytes_max_;
    conductor_ =
        Conductor::create({.clients_max = 4, .namespaces = {config}}, *store_, log_, std::move(listener))
            .value();
  }

  // Rounds until nothing is left to do.
  void turn() {
    while (conductor_->do_work(clock_.now_ns()) > 0) {
    }
  }

  // Connects and says hello without waiting, so that one thread can play both sides.
  UniqueFd say_hello(const Hello& hello) {
    UniqueFd socket = test::connect_to(path_, SOCK_SEQPACKET);
    EXPECT_TRUE(send_message(socket.get(), hello).is_ok());
    turn();
    return socket;
  }
  std::unique_ptr<WireClient> open_client(const std::string& name = "team") {
    UniqueFd socket = say_hello(make_hello(name));
    Result<std::unique_ptr<WireClient>> client = WireClient::adopt(std::move(socket));
    EXPECT_TRUE(client.is_ok()) << client.status().to_string();
    return std::move(client).value();
  }
  std::string refusal_of(int socket) {
    Result<Message> message = receive_within(socket, kSoonNs);
    if (!message.is_ok()) return message.status().to_string();
    return std::string(code_name(test::refusal_code(message.value()))) + ": " +
           test::refusal_text(message.value());
  }
  static Hello proof_of(const WireClient& client) {
    Hello hello = make_hello("team");
    hello.resume_session = client.welcome().session_id;
    std::memcpy(hello.resume_secret, client.welcome().secret, sizeof hello.resume_secret);
    return hello;
  }
  bool echoes(WireClient& client) {
    client.submit_echo(1);
    turn();
    const Result<Completion> answer = client.take_completion(0);
    return answer.is_ok() && answer.value().code == Code::kOk;
  }

  // All clients are this process, which does not exit: what its ended sessions held is given back by hand.
  void forget_zombies() {
    for (const ClientView& client : store_->admin().clients())
      if (client.state == "zombie") store_->session_exited(client.session);
  }

  std::uint64_t team_limit() { return store_->admin().namespaces().at(0).bytes_max; }

  std::uint64_t host_bytes_max_ = 0;
  test::ScratchDir dir_;
  std::string path_ = dir_.file("d.sock");
  ManualClock clock_;
  test::MemoryFdStore fds_;
  std::ostringstream log_text_;
  Log log_{LogOptions{.stream = &log_text_}};
  std::unique_ptr<Store> store_;
  std::unique_ptr<Conductor> conductor_;
};

TEST_F(ConductorTest, a_client_is_welcomed_and_its_commands_answered) {
  const std::unique_ptr<WireClient> client = open_client();
  EXPECT_EQ(client->welcome().protocol_major, kProtocolMajor);
  EXPECT_STREQ(client->welcome().daemon_version, KVTIER_VERSION);
  EXPECT_NE(client->welcome().session_id, 0u);
  EXPECT_TRUE(echoes(*client));
  EXPECT_EQ(store_->stats().sessions, 1u);
}

TEST_F(ConductorTest, a_spec_is_registered_and_a_wrong_one_refused_without_ending_the_session) {
  const std::unique_ptr<WireClient> client = open_client();
  const std::vector<std::byte> encoding = test::encoded_spec("m", 4096);
  client->register_space(encoding, 11);
  client->register_space({encoding.data(), encoding.size() - 1}, 12);
  turn();
  const Result<Message> ready = receive_within(client->socket(), kSoonNs);
  ASSERT_TRUE(ready.is_ok());
  EXPECT_EQ(ready.value().header().type, MessageType::kSpaceReady);
  EXPECT_EQ(ready.value().header().sequence, 11u);
  const Result<Message> refused = receive_within(client->socket(), kSoonNs);
  ASSERT_TRUE(refused.is_ok());
  EXPECT_EQ(test::refusal_code(refused.value()), Code::kInvalid);
  EXPECT_EQ(refused.value().header().sequence, 12u);
  EXPECT_TRUE(echoes(*client));
}

TEST_F(ConductorTest, a_silent_stranger_is_closed_after_the_deadline) {
  const UniqueFd silent = test::connect_to(path_, SOCK_SEQPACKET);
  turn();
  clock_.advance(Greeter::kHelloDeadlineNs - 1);
  turn();
  EXPECT_FALSE(receive_within(silent.get(), 0).is_ok());
  clock_.advance(1);
  turn();
  EXPECT_EQ(refusal_of(silent.get()), "deadline: no hello within 2 s");
  EXPECT_EQ(conductor_->stats().hellos_timed_out, 1u);
}

TEST_F(ConductorTest, strangers_beyond_the_limit_push_out_the_oldest_not_a_client) {
  const std::unique_ptr<WireClient> client = open_client();
  std::vector<UniqueFd> strangers;
  for (std::uint32_t i = 0; i < Greeter::kStrangersMax + 3; ++i) {
    strangers.push_back(test::connect_to(path_, SOCK_SEQPACKET));
    turn();
  }
  EXPECT_EQ(refusal_of(strangers[2].get()), "busy: too many connections wait for their hello");
  EXPECT_FALSE(receive_within(strangers[3].get(), 0).is_ok());
  EXPECT_TRUE(echoes(*client));
}

TEST_F(ConductorTest, limits_and_rights_are_named) {
  EXPECT_EQ(
      refusal_of(say_hello(make_hello("nowhere")).get()).find("not_found: there is no namespace \"nowhere\""),
      0u);
  std::vector<std::unique_ptr<WireClient>> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(open_client());
  EXPECT_EQ(refusal_of(say_hello(make_hello("team")).get()),
            "busy: all places for clients are taken; raise limits.clients_max");
}

TEST_F(ConductorTest, U07_another_version_is_refused_with_both) {
  Hello hello = make_hello("team");
  hello.protocol_major = 9;
  const std::string refusal = refusal_of(say_hello(hello).get());
  EXPECT_EQ(refusal.find("version: the client speaks protocol 9.0"), 0u) << refusal;
}

// Every message of the protocol, cut at every length, before and after the handshake: each ends its sender
// alone.
TEST_F(ConductorTest, every_truncated_message_ends_its_sender_alone) {
  const std::unique_ptr<WireClient> witness = open_client();
  const std::vector<std::pair<MessageType, std::size_t>> messages = {
      {MessageType::kHello, sizeof(Hello)},     {MessageType::kRegisterSpace, sizeof(RegisterSpace)},
      {MessageType::kSlabAck, sizeof(SlabAck)}, {MessageType::kDirectoryAck, sizeof(DirectoryAck)},
      {MessageType::kWelcome, sizeof(Welcome)}, {static_cast<MessageType>(0), 16},
      {static_cast<MessageType>(65535), 16}};
  for (const auto& [type, whole] : messages) {
    for (std::size_t bytes = 1; bytes < whole; ++bytes) {
      std::vector<std::byte> packet(bytes);
      const MessageHeader header = message_header(type, bytes, 5);
      std::memcpy(packet.data(), &header, std::min(bytes, sizeof header));
      const UniqueFd stranger = test::connect_to(path_, SOCK_SEQPACKET);
      ASSERT_TRUE(send_message(stranger.get(), packet, {}).is_ok());
      turn();
      const std::string refusal =
          refusal_of(stranger.get());  // cut behind its version, a hello of zeroes has version 0
      ASSERT_TRUE(refusal.starts_with("invalid: ") || refusal.starts_with("version: "))
          << static_cast<int>(type) << " at " << bytes;
      const std::unique_ptr<WireClient> client = open_client();
      ASSERT_TRUE(send_message(client->socket(), packet, {}).is_ok());
      turn();
      ASSERT_EQ(refusal_of(client->socket()).find("invalid: "), 0u)
          << static_cast<int>(type) << " at " << bytes;
      forget_zombies();
    }
  }
  EXPECT_TRUE(echoes(*witness));
}

TEST_F(ConductorTest, a_wrong_length_or_magic_is_named) {
  const std::unique_ptr<WireClient> client = open_client();
  SlabAck ack{};
  ack.header = message_header(MessageType::kSlabAck, sizeof ack + 1, 0);
  ASSERT_TRUE(send_message(client->socket(), ack).is_ok());
  turn();
  EXPECT_EQ(refusal_of(client->socket()), "invalid: a message says 33 bytes and has 32");
}

TEST_F(ConductorTest, a_broken_submission_cursor_ends_that_session_alone) {
  const std::unique_ptr<WireClient> hostile = open_client();
  const std::unique_ptr<WireClient> witness = open_client();
  hostile->header().submission_tail.store(0x80000000);
  turn();
  EXPECT_EQ(refusal_of(hostile->socket()).find("invalid: the submission ring"), 0u);
  EXPECT_TRUE(echoes(*witness));
}

TEST_F(ConductorTest, more_answers_than_the_ring_holds_end_the_session) {
  const std::unique_ptr<WireClient> hostile = open_client();
  const std::unique_ptr<WireClient> witness = open_client();
  for (std::uint32_t i = 0; i <= kCompletionEntries; ++i) {
    ASSERT_EQ(hostile->submit_echo(i), RingResult::kDone);
    turn();
  }
  EXPECT_EQ(refusal_of(hostile->socket()).find("invalid: the completion ring is full"), 0u);
  EXPECT_TRUE(echoes(*witness));
}

TEST_F(ConductorTest, a_busy_client_does_not_starve_another) {
  const std::unique_ptr<WireClient> busy = open_client();
  const std::unique_ptr<WireClient> quiet = open_client();
  for (std::uint32_t i = 0; i < kSubmissionEntries; ++i) busy->submit_echo(i);
  quiet->submit_echo(1);
  conductor_->do_work(clock_.now_ns());
  EXPECT_TRUE(quiet->take_completion(0).is_ok()) << "answered in the first round";
}

TEST_F(ConductorTest, hang_up_leaves_a_zombie_and_goodbye_leaves_nothing) {
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

TEST_F(ConductorTest, a_commit_that_was_a_clients_last_word_is_heard) {
  const std::unique_ptr<WireClient> client = open_client();
  client->submit_echo(1);
  ::shutdown(client->socket(), SHUT_RDWR);
  turn();
  EXPECT_EQ(conductor_->stats().completions_dropped, 1u) << "the command was taken before the ring was left";
}

// memory returns at the process's exit, which the pidfd tells.
TEST_F(ConductorTest, R08_exit_of_the_process_ends_its_session) {
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
TEST_F(ConductorTest, R11_a_client_that_hung_up_before_its_welcome_is_resumed_later) {
  std::unique_ptr<WireClient> client = open_client();
  const Hello again = proof_of(*client);
  conductor_.reset();
  make_store();
  make_conductor();
  ASSERT_EQ(store_->cold_reason(), "");
  {
    const UniqueFd gone = test::connect_to(path_, SOCK_SEQPACKET);
    ASSERT_TRUE(send_message(gone.get(), again).is_ok());
  }
  turn();
  EXPECT_EQ(conductor_->stats().hellos_refused, 1u);
  EXPECT_EQ(store_->stats().zombies, 1u) << "still to come back";
  client = WireClient::adopt(say_hello(again)).value();
  EXPECT_NE(client->welcome().flags & kWelcomeResumed, 0u);
  EXPECT_EQ(store_->stats().sessions, 1u);
  EXPECT_EQ(store_->stats().zombies, 0u);
}

// An administrator ends sessions, not engines: the process comes back to what it had.
TEST_F(ConductorTest, a_kicked_client_that_proves_its_session_is_resumed) {
  std::unique_ptr<WireClient> client = open_client();
  const Hello again = proof_of(*client);
  ASSERT_TRUE(store_->admin().kick({client->welcome().session_id, KickTarget::Kind::kSession}).is_ok());
  turn();
  ASSERT_EQ(store_->stats().zombies, 1u);
  client = WireClient::adopt(say_hello(again)).value();
  EXPECT_EQ(client->welcome().session_id, again.resume_session);
  EXPECT_NE(client->welcome().flags & kWelcomeResumed, 0u);
  EXPECT_TRUE(echoes(*client));
  EXPECT_EQ(store_->stats().sessions, 1u);
  EXPECT_EQ(store_->stats().zombies, 0u);
}

// Same secret, another process: a child has none of its parent's mappings.
TEST_F(ConductorTest, a_child_with_its_parents_secret_gets_a_session_of_its_own) {
  std::unique_ptr<WireClient> client = open_client();
  const Hello again = proof_of(*client);
  ASSERT_TRUE(store_->admin().kick({client->welcome().session_id, KickTarget::Kind::kSession}).is_ok());
  turn();
  const pid_t child = ::fork();
  if (child == 0) {
    const UniqueFd socket = test::connect_to(path_, SOCK_SEQPACKET);
    (void)send_message(socket.get(), again);
    ::pause();
    std::_Exit(0);
  }
  while (store_->stats().sessions == 1) turn();
  EXPECT_EQ(store_->stats().sessions_resumed, 0u);
  EXPECT_EQ(store_->stats().zombies, 1u) << "the parent may still come back";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  client = WireClient::adopt(say_hello(again)).value();
  EXPECT_NE(client->welcome().flags & kWelcomeResumed, 0u);
}

TEST_F(ConductorTest, F05_a_limit_changes_by_a_reload_and_by_a_warm_restart_too) {
  const std::unique_ptr<WireClient> client = open_client();
  EXPECT_EQ(team_limit(), 0u);
  NamespaceConfig changed = team();
  changed.host_bytes_max = 8 << 20;
  conductor_->set_namespaces({changed});
  EXPECT_EQ(team_limit(), 8u << 20);
  conductor_.reset();
  make_store();
  ASSERT_EQ(store_->cold_reason(), "");
  EXPECT_EQ(team_limit(), 8u << 20) << "the reload is what the next instance finds";
  host_bytes_max_ = 4 << 20;
  make_conductor();
  EXPECT_EQ(team_limit(), 4u << 20) << "its configuration counts";
}

TEST_F(ConductorTest, a_doorbell_ends_the_sleep_and_so_does_wake) {
  const std::unique_ptr<WireClient> client = open_client();
  turn();
  client->ring_doorbell();
  conductor_->wait(clock_.now_ns(), kNever);
  conductor_->wake();
  conductor_->wait(clock_.now_ns(), kNever);
  client->submit_echo(1);
  conductor_->wait(clock_.now_ns(), kNever);  // the ring is looked at before blocking
  turn();
  EXPECT_TRUE(client->take_completion(0).is_ok());
}

TEST_F(ConductorTest, descriptors_sent_by_a_client_never_arrive) {
  const std::unique_ptr<WireClient> client = open_client();
  std::array<int, 2> pipe_ends{-1, -1};
  ASSERT_EQ(::pipe(pipe_ends.data()), 0);
  const UniqueFd reader(pipe_ends[0]);
  UniqueFd writer(pipe_ends[1]);
  SlabAck ack{};
  ack.header = message_header(MessageType::kSlabAck, sizeof ack, 0);
  ack.state = SlabState::kUnmapped;
  const std::array<int, 1> fds{writer.get()};
  ASSERT_TRUE(send_message(client->socket(), ack, fds).is_ok());
  writer.reset();
  turn();
  char byte = 0;
  EXPECT_EQ(::read(reader.get(), &byte, 1), 0) << "the last writer is gone";
}

}  // namespace
}  // namespace kvtier
