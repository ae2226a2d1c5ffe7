// The administration socket over the real store, on one thread and under a time of its own.

#include "daemon/admin/admin_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <atomic>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "daemon/flow/stats.h"
#include "daemon/flow/store.h"
#include "tests/support/memory_fd_store.h"
#include "tests/support/no_waiter.h"
#include "tests/support/scratch_dir.h"
#include "tests/support/sim_client.h"
#include "tools/kvctl/command_line.h"

namespace kvtier {
namespace {

using test::NoWaiter;
using Json = nlohmann::json;

Key key_of(std::uint64_t n) {
  return Key{{n + 0xabcd, n + 1, n + 2, n + 3}};
}

class AdminServerTest : public testing::Test {
 protected:
  AdminServerTest() {
    StoreOptions options;
    options.host_bytes = 16 << 20;
    options.sessions_max = 4;
    options.seed = 1;
    store_ = Store::create(options, clock_, fds_).value();
    AdminServerOptions admin;
    admin.facts.version = "1.2.3";
    admin.facts.instance = "test";
    admin.facts.config_json = render_config_rows({{"host.bytes", "16MiB", "", "default", "restart", "size"}});
    server_ =
        AdminServer::create(std::move(admin), AdminServer::listen(path_, {}).value(), conductor_).value();
  }

  UniqueFd connect() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return socket;
  }

  // Both agents in turn until neither has work.
  void turn() {
    while (server_->do_work(clock_.now_ns()) + (is_hanging_ ? 0 : server_->port().serve(*store_)) > 0) {
    }
  }

  static void send(const UniqueFd& socket, std::string_view text) {
    EXPECT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }

  static std::string receive(const UniqueFd& socket) {
    std::string text;
    std::array<char, 65536> bytes;
    for (;;) {
      const ssize_t n = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (n <= 0) return text;
      text.append(bytes.data(), static_cast<std::size_t>(n));
    }
  }
  static bool is_closed(const UniqueFd& socket) {
    char byte = 0;
    const ssize_t n = ::recv(socket.get(), &byte, 1, MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno == ECONNRESET);
  }

  // Lines of the answer.
  std::vector<Json> ask(const UniqueFd& socket, const std::string& request) {
    send(socket, request + "\n");
    std::string text;
    do {
      turn();
      const std::string more = receive(socket);
      if (more.empty()) break;
      text += more;
    } while (true);
    return lines_of(text);
  }
  static std::vector<Json> lines_of(const std::string& text) {
    std::vector<Json> lines;
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
      lines.push_back(Json::parse(text.substr(begin, end - begin), nullptr, false));
      EXPECT_TRUE(lines.back().is_object()) << text.substr(begin, end - begin);
      begin = end + 1;
    }
    EXPECT_EQ(begin, text.size());
    return lines;
  }
  Json ask_one(const std::string& request) {
    const UniqueFd socket = connect();
    std::vector<Json> lines = ask(socket, request);
    return lines.empty() ? Json("no answer") : lines.back();
  }
  static std::string error_code(const Json& line) {
    return line.is_object() && line.contains("error") ? line["error"].value("code", "") : "";
  }

  void deliver(test::SimClient& client) {
    store_->do_work();
    for (const OutEvent& event : store_->outbox()) client.on_event(event);
    store_->outbox().clear();
  }

  // A chain of blocks, and two branches below it.
  void put_blocks(test::SimClient& client, std::uint64_t count) {
    space_ = client.register_space(test::encoded_spec("model", 4096));
    std::vector<Key> chain;
    for (std::uint64_t i = 0; i < count; ++i) chain.push_back(key_of(i * 16));
    put(client, chain, Key{});
    put(client, {key_of(1 << 20)}, chain.back());
    put(client, {key_of(2 << 20)}, chain.back());
  }
  void put(test::SimClient& client, const std::vector<Key>& keys, const Key& parent) {
    const std::uint32_t request = client.reserve(space_, keys, parent);
    deliver(client);
    ASSERT_TRUE(client.is_answered(request));
    std::vector<Hold> holds;
    for (const test::Reservation& reservation : client.reserved(request)) {
      client.fill(reservation);
      holds.push_back(reservation.result.hold);
    }
    client.commit(holds);
    deliver(client);
  }

  test::ScratchDir dir_;
  const std::string path_ = dir_.file("admin.sock");
  ManualClock clock_;
  test::MemoryFdStore fds_;
  NoWaiter conductor_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<AdminServer> server_;
  SpaceId space_ = SpaceId::kNone;
  bool is_hanging_ = false;
};

TEST_F(AdminServerTest, StatusHasWhatTheDaemonIs) {
  const Json status = ask_one(R"({"verb":"status"})");
  EXPECT_EQ(status["health"], "ok");
  EXPECT_EQ(status["version"], "1.2.3");
  EXPECT_EQ(status["start"]["kind"], "cold");
  EXPECT_EQ(status["tiers"][0]["bytes"], 16 << 20);
  EXPECT_EQ(status["config"][0]["path"], "host.bytes");
  EXPECT_EQ(status["done"], true);
  EXPECT_EQ(ask_one(R"({"verb":"health"})")["health"], "ok");
  EXPECT_EQ(ask_one(R"({"verb":"version"})")["instance"], "test");
}

// kvctl in this process, while the daemon's side turns in a thread.
TEST_F(AdminServerTest, U07_KvctlOfAnotherVersionSaysSo) {
  std::atomic<bool> is_done = false;
  std::thread daemon([&] {
    while (!is_done.load()) turn();
  });
  const std::array<const char*, 4> words = {"kvctl", "--socket", path_.c_str(), "version"};
  ctl::CommandLine line;
  ctl::parse_command_line(static_cast<int>(words.size()), words.data(), line);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(line.run(), ctl::kExitOk);
  const std::string said = testing::internal::GetCapturedStdout();
  const std::string warned = testing::internal::GetCapturedStderr();
  is_done.store(true);
  daemon.join();
  EXPECT_NE(said.find(KVTIER_VERSION), std::string::npos) << said;
  EXPECT_NE(said.find("1.2.3"), std::string::npos) << said;
  EXPECT_NE(warned.find("of another version"), std::string::npos) << warned;
}

TEST_F(AdminServerTest, ListsComeInPagesWithACursor) {
  test::SimClient client(*store_, "team", 1234);
  put_blocks(client, 8);
  EXPECT_EQ(ask_one(R"({"verb":"stats"})")["stats"]["blocks_ready"], 10);
  const UniqueFd socket = connect();
  std::vector<Json> rows;
  Json cursor = 0;
  while (!cursor.is_null()) {
    const std::vector<Json> lines = ask(socket, R"({"verb":"ls","limit":3,"cursor":)" + cursor.dump() + "}");
    ASSERT_FALSE(lines.empty());
    EXPECT_LE(lines.size(), 4U);
    for (const Json& line : lines)
      if (line.contains("row")) rows.push_back(line["row"]);
    cursor = lines.back().at("next");
  }
  EXPECT_EQ(rows.size(), 10U);
  EXPECT_EQ(rows[0]["state"], "ready");
  EXPECT_EQ(ask(socket, R"({"verb":"clients"})")[0]["row"]["pid"], 1234);
  EXPECT_EQ(ask(socket, R"({"verb":"spaces"})")[0]["row"]["model"], "model");
  EXPECT_EQ(ask(socket, R"({"verb":"namespaces"})")[0]["row"]["namespace"], "team");
}

TEST_F(AdminServerTest, TreeFoldsChains) {
  test::SimClient client(*store_, "team", 1);
  put_blocks(client, 8);
  const UniqueFd socket = connect();
  const std::vector<Json> lines = ask(socket, R"({"verb":"tree","namespace":"team"})");
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0]["row"]["blocks"], 8);
  EXPECT_EQ(lines[0]["row"]["branches"], 2);
  EXPECT_EQ(lines[1]["row"]["level"], 1);
  EXPECT_EQ(lines[1]["row"]["depth"], 8);
}

TEST_F(AdminServerTest, F03_TreesComeInPagesWithACursorOfTheirOwn) {
  test::SimClient client(*store_, "team", 1);
  put_blocks(client, 8);
  const UniqueFd socket = connect();
  std::vector<Json> rows;
  std::string request = R"({"verb":"tree","namespace":"team","limit":1})";
  while (!request.empty()) {
    const std::vector<Json> lines = ask(socket, request);
    ASSERT_LE(lines.size(), 2U);
    if (lines.size() == 2) rows.push_back(lines[0]["row"]);
    const Json& next = lines.back().at("next");
    request =
        next.is_null() ? "" : R"({"verb":"tree","namespace":"team","limit":1,"cursor":)" + next.dump() + "}";
  }
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[2]["level"], 1);
}

TEST_F(AdminServerTest, InspectEvictFlushKick) {
  test::SimClient client(*store_, "team", 77);
  put_blocks(client, 8);
  const UniqueFd socket = connect();
  const std::string key = to_hex(key_of(1 << 20));
  EXPECT_EQ(ask(socket, R"({"verb":"inspect","key":")" + key + "\"}")[0]["row"]["key"], key);
  EXPECT_EQ(ask(socket, R"({"verb":"evict","key":")" + key + "\"}").back()["evicted"], 1);
  EXPECT_EQ(ask(socket, R"({"verb":"inspect","key":")" + key + "\"}").back()["count"], 0);
  EXPECT_EQ(error_code(ask(socket, R"({"verb":"flush","namespace":"nobody"})").back()), "not_found");
  EXPECT_EQ(error_code(ask(socket, R"({"verb":"flush","namespace":"team","space":99})").back()), "not_found");
  const Json flushed = ask(socket, R"({"verb":"flush","all":true})").back();
  EXPECT_EQ(flushed["evicted"], 9);
  for (const char* field :
       {"kept", "kept_pinned", "kept_leased", "kept_writing", "kept_parents", "kept_other"})
    EXPECT_EQ(flushed[field], 0) << field;
  EXPECT_EQ(store_->stats().blocks_ready, 0U);
  EXPECT_EQ(error_code(ask(socket, R"({"verb":"kick","id":424242})").back()), "not_found");
  EXPECT_EQ(ask(socket, R"({"verb":"kick","id":77})").back()["done"], true);
  deliver(client);
  EXPECT_TRUE(client.is_ended());
}

TEST_F(AdminServerTest, HostileLinesAreErrorsForTheirSenderAlone) {
  const UniqueFd good = connect();
  for (const std::string& line :
       {std::string("\0\1\2\xff\xfe", 5), std::string(10000, '['), std::string("{\"verb\":1}"),
        std::string(R"({"verb":"ls","limit":{}})"), std::string(), std::string("{\"verb\":\"\xc3\x28\"}")}) {
    EXPECT_EQ(error_code(ask_one(line)), "invalid") << line.substr(0, 40);
  }
  const UniqueFd huge = connect();
  send(huge, std::string(100'000, 'x'));
  turn();
  const std::vector<Json> lines = lines_of(receive(huge));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(error_code(lines[0]), "invalid");
  EXPECT_TRUE(is_closed(huge));
  EXPECT_EQ(ask(good, R"({"verb":"health"})").back()["health"], "ok");
}

TEST_F(AdminServerTest, RequestsInOnePieceAreAnsweredInOrder) {
  const UniqueFd socket = connect();
  const std::vector<Json> lines = ask(socket, "{\"verb\":\"version\"}\nnonsense\n{\"verb\":\"health\"}");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].contains("version"));
  EXPECT_EQ(error_code(lines[1]), "invalid");
  EXPECT_EQ(lines[2]["health"], "ok");
}

TEST_F(AdminServerTest, AHangingConductorIsAnAnswer) {
  is_hanging_ = true;
  const UniqueFd socket = connect();
  EXPECT_TRUE(ask(socket, R"({"verb":"health"})").empty());
  EXPECT_LE(server_->next_deadline_ns(), clock_.now_ns() + AdminJob::kEchoNs);
  clock_.advance(AdminJob::kEchoNs);
  turn();
  EXPECT_EQ(error_code(lines_of(receive(socket)).at(0)), "deadline");
  EXPECT_TRUE(ask(socket, R"({"verb":"version"})").back().contains("version"));
  // Abandoned commands have a bound as well.
  for (std::size_t i = 1; i < AdminPort::kInFlightMax; ++i) {
    (void)ask(socket, R"({"verb":"health"})");
    clock_.advance(AdminJob::kEchoNs);
    turn();
    EXPECT_EQ(error_code(lines_of(receive(socket)).at(0)), "deadline");
  }
  EXPECT_EQ(error_code(ask(socket, R"({"verb":"health"})").back()), "busy");
  is_hanging_ = false;
  turn();
  EXPECT_EQ(ask(socket, R"({"verb":"health"})").back()["health"], "ok");
}

TEST_F(AdminServerTest, SilentAndSlowPeersLoseTheirPlace) {
  const UniqueFd silent = connect();
  const UniqueFd half = connect();
  send(half, "{\"verb\"");
  turn();
  clock_.advance(AdminConnection::kStallNs);
  turn();
  EXPECT_TRUE(is_closed(half));
  EXPECT_FALSE(is_closed(silent));
  clock_.advance(AdminConnection::kIdleNs);
  turn();
  EXPECT_TRUE(is_closed(silent));
}

TEST_F(AdminServerTest, WhenAllPlacesAreTakenTheStillestGoes) {
  const UniqueFd first = connect();
  turn();
  std::vector<UniqueFd> others;
  for (std::size_t i = 1; i < AdminServer::kConnectionsMax; ++i) {
    clock_.advance(kNsPerMs);
    others.push_back(connect());
    turn();
  }
  EXPECT_FALSE(is_closed(first));
  EXPECT_EQ(ask_one(R"({"verb":"health"})")["health"], "ok");
  EXPECT_TRUE(is_closed(first));
}

TEST_F(AdminServerTest, APeerThatDoesNotReadCostsABoundedBuffer) {
  test::SimClient client(*store_, "team", 1);
  put_blocks(client, 1000);
  const UniqueFd slow = connect();
  for (int i = 0; i < 20; ++i) send(slow, "{\"verb\":\"ls\",\"limit\":1000}\n");
  turn();  // ends: nothing is left to do although the answers are not read
  EXPECT_EQ(ask_one(R"({"verb":"health"})")["health"], "ok");
  clock_.advance(AdminConnection::kStallNs);
  turn();
  (void)receive(slow);
  EXPECT_TRUE(is_closed(slow));
}

TEST_F(AdminServerTest, APeerThatLeavesDuringItsRequestLeavesNothing) {
  is_hanging_ = true;
  {
    const UniqueFd socket = connect();
    (void)ask(socket, R"({"verb":"flush","all":true})");
  }
  turn();
  is_hanging_ = false;
  turn();
  EXPECT_EQ(ask_one(R"({"verb":"health"})")["health"], "ok");
}

}  // namespace
}  // namespace kvtier
