// Clients that break the protocol: each is told why and ends, alone.

#include <array>
#include <functional>

#include "tests/unit/session/conductor_fixture.h"

namespace kvtier::test {
namespace {

class ConductorHostile : public ConductorTest {
 protected:
  void expect_ended_alone(const std::function<void(WireClient&)>& misbehave, const std::string& why) {
    const std::unique_ptr<WireClient> hostile = open_client();
    const std::unique_ptr<WireClient> witness = open_client();
    misbehave(*hostile);
    turn();
    const std::string refusal = refusal_of(hostile->socket());
    EXPECT_TRUE(refusal.starts_with(why)) << refusal;
    EXPECT_TRUE(echoes(*witness));
  }
};

// Every message of the protocol, cut at every length, before and after the handshake: each ends its sender
// alone.
TEST_F(ConductorHostile, every_truncated_message_ends_its_sender_alone) {
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
      const UniqueFd stranger = connect_to(path_, SOCK_SEQPACKET);
      ASSERT_TRUE(send_message(stranger.get(), packet, {}).is_ok());
      turn();
      // Cut behind its version, a hello of zeroes has version 0.
      const std::string refusal = refusal_of(stranger.get());
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

TEST_F(ConductorHostile, a_message_of_a_wrong_length_ends_its_sender_alone) {
  const auto misbehave = [](WireClient& client) {
    SlabAck ack{};
    ack.header = message_header(MessageType::kSlabAck, sizeof ack + 1, 0);
    ASSERT_TRUE(send_message(client.socket(), ack).is_ok());
  };
  expect_ended_alone(misbehave, "invalid: a message says 33 bytes and has 32");
}

TEST_F(ConductorHostile, a_broken_submission_cursor_ends_that_session_alone) {
  const auto misbehave = [](WireClient& client) { client.header().submission_tail.store(0x80000000); };
  expect_ended_alone(misbehave, "invalid: the submission ring");
}

TEST_F(ConductorHostile, more_answers_than_the_ring_holds_end_that_session_alone) {
  const auto misbehave = [this](WireClient& client) {
    for (std::uint32_t i = 0; i <= kCompletionEntries; ++i) {
      ASSERT_EQ(client.submit_echo(i), RingResult::kDone);
      turn();
    }
  };
  expect_ended_alone(misbehave, "invalid: the completion ring is full");
}

TEST_F(ConductorHostile, descriptors_sent_by_a_client_never_arrive) {
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
}  // namespace kvtier::test
