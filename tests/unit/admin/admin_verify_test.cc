// A verify at the administration socket: begun with the tier's agent, watched in its snapshot, ended with its asker.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "daemon/admin/admin_server.h"
#include "tests/support/no_waiter.h"
#include "tests/support/scratch_dir.h"

namespace kvtier {
namespace {

using test::NoWaiter;
using Json = nlohmann::json;

class AdminVerifyTest : public testing::Test {
 protected:
  void open(bool has_tier = true) {
    AdminServerOptions options;
    if (has_tier) options.facts.nvme_now = &now_;
    if (has_tier) options.disk = &disk_;
    server_ =
        AdminServer::create(std::move(options), AdminServer::listen(path_, {}).value(), waiter_).value();
  }
  UniqueFd ask() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    constexpr std::string_view kRequest = "{\"verb\":\"verify\"}\n";
    EXPECT_EQ(::send(socket.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL), ssize_t{kRequest.size()});
    turn();
    return socket;
  }
  void turn() {
    for (int i = 0; i < 100 && server_->do_work(clock_.now_ns()) > 0; ++i) {
    }
  }
  // Some time later: what the agent published is looked at.
  void later(TimeNs ns = 300 * kNsPerMs) {
    clock_.advance(ns);
    turn();
  }
  static std::vector<Json> lines(const UniqueFd& socket) {
    std::array<char, 65536> bytes;
    const ssize_t n = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    std::vector<Json> lines;
    std::istringstream text(std::string(bytes.data(), n > 0 ? static_cast<std::size_t>(n) : 0));
    for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line, nullptr, false));
    return lines;
  }
  // The agent's side.
  DiskCommand command() {
    DiskCommand command;
    EXPECT_TRUE(disk_.commands.pop(command));
    return command;
  }
  bool has_command() {
    DiskCommand command;
    return disk_.commands.pop(command);
  }
  void publish(std::uint64_t tag, VerifyState state, std::uint64_t good) {
    DiskSnapshot view;
    view.verify = {.tag = tag, .state = state, .segments = 9, .segments_done = good, .blocks_good = good};
    view.verify.faults[static_cast<std::size_t>(DiskFault::kStale)] = 3;
    now_.publish(view);
  }

  test::ScratchDir dir_;
  const std::string path_ = dir_.file("admin.sock");
  ManualClock clock_;
  NoWaiter waiter_;
  DiskChannel disk_{waiter_, waiter_};
  DiskSnapshotCell now_;
  std::unique_ptr<AdminServer> server_;
};

TEST_F(AdminVerifyTest, ProgressThenWhatWasFound) {
  open();
  const UniqueFd asker = ask();
  const DiskCommand begun = command();
  EXPECT_EQ(begun.kind, DiskCommandKind::kVerify);
  later();
  EXPECT_TRUE(lines(asker).empty()) << "the snapshot is about another scrub yet";
  publish(begun.tag, VerifyState::kRunning, 4);
  later();
  std::vector<Json> said = lines(asker);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0]["progress"]["blocks_good"], 4);
  later(kNsPerMs);
  EXPECT_TRUE(lines(asker).empty()) << "not in each round";
  EXPECT_LE(server_->next_deadline_ns(), clock_.now_ns() + 100 * kNsPerMs) << "it looks again by itself";
  publish(begun.tag, VerifyState::kDone, 9);
  later();
  said = lines(asker);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0]["state"], "done");
  EXPECT_EQ(said[0]["blocks_good"], 9);
  EXPECT_EQ(said[0]["faults"], Json({{"stale", 3}}));
  EXPECT_EQ(said[0]["done"], true);
}

TEST_F(AdminVerifyTest, OneAtATime) {
  open();
  const UniqueFd first = ask();
  const DiskCommand begun = command();
  const UniqueFd second = ask();
  const std::vector<Json> said = lines(second);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0]["error"]["code"], "busy");
  EXPECT_NE(said[0]["error"]["message"].get<std::string>().find("another verify"), std::string::npos);
  EXPECT_FALSE(has_command());
  publish(begun.tag, VerifyState::kDone, 9);
  later();
  EXPECT_EQ(lines(first).size(), 1U);
  EXPECT_EQ(command().kind, DiskCommandKind::kVerifyStop) << "of one that is over: nothing";
  const UniqueFd third = ask();
  EXPECT_EQ(command().kind, DiskCommandKind::kVerify);
}

TEST_F(AdminVerifyTest, EndsWithItsAsker) {
  open();
  UniqueFd asker = ask();
  const DiskCommand begun = command();
  publish(begun.tag, VerifyState::kRunning, 4);
  asker.reset();
  later();
  const DiskCommand stopped = command();
  EXPECT_EQ(stopped.kind, DiskCommandKind::kVerifyStop);
  EXPECT_EQ(stopped.tag, begun.tag);
}

// The mailbox is full when the asker goes: it is told as soon as there is room.
TEST_F(AdminVerifyTest, AStopIsNotLost) {
  open();
  UniqueFd asker = ask();
  const DiskCommand begun = command();
  while (disk_.commands.push({.kind = DiskCommandKind::kFlush})) {
  }
  asker.reset();
  later();
  EXPECT_LE(server_->next_deadline_ns(), clock_.now_ns() + 100 * kNsPerMs);
  const UniqueFd next = ask();
  EXPECT_EQ(lines(next).at(0)["error"]["code"], "busy");
  while (has_command()) {
  }
  later();
  const DiskCommand stopped = command();
  EXPECT_EQ(stopped.kind, DiskCommandKind::kVerifyStop);
  EXPECT_EQ(stopped.tag, begun.tag);
  EXPECT_GT(server_->next_deadline_ns(), clock_.now_ns() + kNsPerSecond) << "nothing is left to tell";
}

TEST_F(AdminVerifyTest, AnAgentThatHangsIsSaid) {
  open();
  const UniqueFd asker = ask();
  later(6 * kNsPerSecond);
  const std::vector<Json> said = lines(asker);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0]["error"]["code"], "deadline");
  EXPECT_EQ(command().kind, DiskCommandKind::kVerify);
  EXPECT_EQ(command().kind, DiskCommandKind::kVerifyStop) << "it does not begin for nobody";
}

TEST_F(AdminVerifyTest, WithoutATierItSaysSo) {
  open(false);
  const UniqueFd asker = ask();
  EXPECT_EQ(lines(asker).at(0)["error"]["code"], "unsupported");
}

TEST_F(AdminVerifyTest, ATierThatDoesNotServeRefuses) {
  open();
  const UniqueFd asker = ask();
  publish(command().tag, VerifyState::kRefused, 0);
  later();
  EXPECT_EQ(lines(asker).at(0)["error"]["code"], "unavailable");
}

}  // namespace
}  // namespace kvtier
