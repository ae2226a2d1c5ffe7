#pragma once
// The session layer over the real store, on one thread: clients speak raw wire.

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <memory>
#include <string>

#include "daemon/flow/admin.h"
#include "tests/support/in_process_daemon.h"
#include "tests/support/memory_fd_store.h"
#include "tests/system/wire_client.h"

namespace kvtier::test {

inline constexpr TimeNs kSoonNs = 5 * kNsPerSecond;

class ConductorTest : public testing::Test, protected InProcessDaemon<ManualClock, MemoryFdStore> {
 protected:
  ConductorTest() : InProcessDaemon("team", {.host_bytes = 16 << 20, .sessions_max = 4}) {}

  // Rounds until nothing is left to do.
  void turn() {
    while (conductor_->do_work(clock_.now_ns()) > 0) {
    }
  }

  // Connects and says hello without waiting, so that one thread can play both sides.
  UniqueFd say_hello(const Hello& hello) {
    UniqueFd socket = connect_to(path_, SOCK_SEQPACKET);
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
    return std::string(code_name(refusal_code(message.value()))) + ": " + refusal_text(message.value());
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

  void restart_warm() {
    conductor_.reset();
    make_store();
    ASSERT_EQ(store_->cold_reason(), "");
  }
  void kick(const WireClient& client) {
    ASSERT_TRUE(store_->admin().kick({client.welcome().session_id, KickTarget::Kind::kSession}).is_ok());
    turn();
    ASSERT_EQ(store_->stats().zombies, 1u);
  }
  // The client of the proof, back in its session.
  std::unique_ptr<WireClient> come_back(const Hello& proof) {
    Result<std::unique_ptr<WireClient>> client = WireClient::adopt(say_hello(proof));
    EXPECT_TRUE(client.is_ok()) << client.status().to_string();
    if (!client.is_ok()) return nullptr;
    EXPECT_EQ(client.value()->welcome().session_id, proof.resume_session);
    EXPECT_NE(client.value()->welcome().flags & kWelcomeResumed, 0u);
    return std::move(client).value();
  }

  // All clients are this process, which does not exit: what its ended sessions held is given back by hand.
  void forget_zombies() {
    for (const ClientView& client : store_->admin().clients())
      if (client.state == "zombie") store_->session_exited(client.session);
  }

  std::uint64_t team_limit() { return store_->admin().namespaces().at(0).bytes_max; }
};

}  // namespace kvtier::test
