// How clients come, what they may ask, and whose turn it is.

#include "tests/support/sim_client.h"
#include "tests/unit/session/conductor_fixture.h"

namespace kvtier::test {
namespace {

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
  const std::vector<std::byte> encoding = encoded_spec("m", 4096);
  client->register_space(encoding, 11);
  client->register_space({encoding.data(), encoding.size() - 1}, 12);
  turn();
  const Result<Message> ready = receive_within(client->socket(), kSoonNs);
  ASSERT_TRUE(ready.is_ok());
  EXPECT_EQ(ready.value().header().type, MessageType::kSpaceReady);
  EXPECT_EQ(ready.value().header().sequence, 11u);
  const Result<Message> refused = receive_within(client->socket(), kSoonNs);
  ASSERT_TRUE(refused.is_ok());
  EXPECT_EQ(refusal_code(refused.value()), Code::kInvalid);
  EXPECT_EQ(refused.value().header().sequence, 12u);
  EXPECT_TRUE(echoes(*client));
}

TEST_F(ConductorTest, a_silent_stranger_is_closed_after_the_deadline) {
  const UniqueFd silent = connect_to(path_, SOCK_SEQPACKET);
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
    strangers.push_back(connect_to(path_, SOCK_SEQPACKET));
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
  hello.protocol_minor = 0;
  const std::string refusal = refusal_of(say_hello(hello).get());
  EXPECT_EQ(refusal.find("version: the client speaks protocol 9.0"), 0u) << refusal;
}

TEST_F(ConductorTest, a_busy_client_does_not_starve_another) {
  const std::unique_ptr<WireClient> busy = open_client();
  const std::unique_ptr<WireClient> quiet = open_client();
  for (std::uint32_t i = 0; i < kSubmissionEntries; ++i) busy->submit_echo(i);
  quiet->submit_echo(1);
  conductor_->do_work(clock_.now_ns());
  EXPECT_TRUE(quiet->take_completion(0).is_ok()) << "answered in the first round";
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

}  // namespace
}  // namespace kvtier::test
