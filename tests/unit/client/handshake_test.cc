// What may end a handshake, and what must not.

#include "libkvclient/src/handshake.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

namespace kvtier::client {
namespace {

// Listens, takes one hello and welcomes it once `may_answer` is true, or the other side hung up.
class SlowDaemon {
 public:
  explicit SlowDaemon(std::function<bool()> may_answer)
      : may_answer_(std::move(may_answer)), listener_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    thread_ = std::thread([this] { run(); });
  }
  SlowDaemon(const SlowDaemon&) = delete;
  SlowDaemon& operator=(const SlowDaemon&) = delete;
  ~SlowDaemon() {
    thread_.join();
    std::filesystem::remove(path_);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  static bool is_readable(int fd) {
    pollfd poll{fd, POLLIN, 0};
    return ::poll(&poll, 1, 0) > 0;
  }
  void run() {
    const UniqueFd peer(::accept(listener_.get(), nullptr, nullptr));
    while (!is_readable(peer.get())) std::this_thread::yield();
    ASSERT_TRUE(receive_message(peer.get()).is_ok());
    while (!may_answer_()) {
      if (is_readable(peer.get())) return;  // the client gave up
      std::this_thread::yield();
    }
    Welcome welcome{};
    welcome.header = message_header(MessageType::kWelcome, sizeof welcome, 1);
    welcome.protocol_major = kProtocolMajor;
    const UniqueFd some(::eventfd(0, EFD_CLOEXEC));
    const int fds[] = {some.get(), some.get(), some.get()};
    EXPECT_TRUE(send_message(peer.get(), welcome, fds).is_ok());
  }

  const std::string path_ = "/tmp/kv-handshake-" + std::to_string(::getpid()) + ".sock";
  std::function<bool()> may_answer_;
  UniqueFd listener_;
  std::thread thread_;
};

class Handshakes : public testing::Test {
 protected:
  Result<Handshake> shake(const SlowDaemon& daemon) {
    ClientOptions options;
    options.socket_path = daemon.path();
    options.namespace_name = "default";
    return shake_hands(options, {}, kNever, {wake_.get(), is_closed_});
  }
  void wake() {
    const std::uint64_t one = 1;
    ASSERT_EQ(::write(wake_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }
  [[nodiscard]] bool is_wake_taken() const {
    pollfd poll{wake_.get(), POLLIN, 0};
    return ::poll(&poll, 1, 0) == 0;
  }

  const UniqueFd wake_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  std::atomic<bool> is_closed_{false};
};

TEST_F(Handshakes, AWakeUpForSomethingElseDoesNotEndIt) {
  wake();
  const SlowDaemon daemon([this] { return is_wake_taken(); });
  const Result<Handshake> handshake = shake(daemon);
  ASSERT_TRUE(handshake.is_ok()) << handshake.status().to_string();
  EXPECT_EQ(handshake.value().fds.size(), 3U);
}

TEST_F(Handshakes, ACloseEndsIt) {
  const SlowDaemon daemon([] { return false; });
  is_closed_.store(true);
  wake();
  EXPECT_EQ(shake(daemon).code(), Code::kUnavailable);
}

TEST_F(Handshakes, ACloseAfterAnotherWakeUpEndsIt) {
  wake();
  const SlowDaemon daemon([this] {
    if (is_wake_taken() && !is_closed_.exchange(true)) wake();
    return false;
  });
  EXPECT_EQ(shake(daemon).code(), Code::kUnavailable);
}

// Cause and fix for who reads the last error: what is at the path decides.
TEST_F(Handshakes, WhatKeepsAClientFromConnectingIsToldWithItsFix) {
  const std::string path = "/tmp/kv-handshake-none-" + std::to_string(::getpid()) + ".sock";
  ClientOptions options;
  options.socket_path = path;
  const auto refusal = [&] { return shake_hands(options, {}, kNever, {wake_.get(), is_closed_}).status(); };
  const std::string start = "; start kvtierd, or name its socket in KVTIER_SOCKET or socket_path";
  EXPECT_EQ(refusal().to_string(), "unavailable: there is no socket " + path + start);
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_NE(refusal().message().find(path + " is of another kind than the engines' socket"),
            std::string::npos)
      << refusal().to_string();
  std::filesystem::remove(path);
  const UniqueFd deaf(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(deaf.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(refusal().to_string(), "unavailable: nobody listens on " + path + start);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace kvtier::client
