#pragma once
// The session layer over the real store, on one thread: clients speak raw wire.

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <memory>
#include <sstream>
#include <string>

#include "daemon/flow/admin.h"
#include "daemon/flow/stats.h"
#include "daemon/session/conductor.h"
#include "tests/support/memory_fd_store.h"
#include "tests/system/wire_client.h"
#include "tests/unit/session/scratch_dir.h"

namespace kvtier::test {

inline constexpr TimeNs kSoonNs = 5 * kNsPerSecond;

inline NamespaceConfig team() {
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

  std::uint64_t host_bytes_max_ = 0;
  ScratchDir dir_;
  std::string path_ = dir_.file("d.sock");
  ManualClock clock_;
  MemoryFdStore fds_;
  std::ostringstream log_text_;
  Log log_{LogOptions{.stream = &log_text_}};
  std::unique_ptr<Store> store_;
  std::unique_ptr<Conductor> conductor_;
};

}  // namespace kvtier::test
