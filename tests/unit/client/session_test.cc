// Connecting, being refused, hanging up, coming back.

#include <algorithm>

#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

std::string error_of_open(const std::string& path, int expected, std::uint32_t flags = 0,
                          std::uint64_t deadline_ns = 2000 * kMs) {
  kvc_client* client = nullptr;
  EXPECT_EQ(open_client(path, &client, flags, deadline_ns), expected);
  EXPECT_EQ(client, nullptr);
  return kvc_last_error();
}

TEST(ClientSession, OpensWithoutADaemonUnlessItIsRequired) {
  const TestClient client("/nowhere/kvtierd.sock");
  EXPECT_EQ(client.status().connection, KVC_CONNECTING);
  EXPECT_NE(std::string(client.status().last_error).find("/nowhere"), std::string::npos);
  const auto keys = keys_from(0, 2);
  std::size_t ready = 9;
  std::uint8_t states[2] = {9, 9};
  EXPECT_EQ(kvc_match(client.space, keys.data(), 2, states, &ready), KVC_UNAVAILABLE);
  EXPECT_EQ(ready, 0U);
  EXPECT_EQ(states[1], KVC_MISSING);
  EXPECT_EQ(kvc_acquire(client.space, keys.data(), 2, 0, 0, client.lease), KVC_UNAVAILABLE);
  EXPECT_EQ(kvc_lease_count(client.lease), 0U);
  kvc_slot slots[2] = {};
  EXPECT_EQ(kvc_reserve(client.space, keys.data(), 2, nullptr, slots), KVC_UNAVAILABLE);
  EXPECT_EQ(slots[1].code, KVC_UNAVAILABLE);
  EXPECT_EQ(kvc_ping(client.client, 0), KVC_UNAVAILABLE);
  const std::string why = kvc_last_error();
  EXPECT_NE(why.find("/nowhere"), std::string::npos);
  EXPECT_EQ(why.find("/nowhere"), why.rfind("/nowhere")) << "said once: " << why;
  EXPECT_EQ(kvc_wait(client.space, keys.data(), 2, 0, nullptr, &ready), KVC_UNAVAILABLE);
  EXPECT_EQ(client.stats().unavailable, 5U);
  error_of_open("/nowhere/kvtierd.sock", KVC_UNAVAILABLE, KVC_REQUIRE);
}

TEST(ClientSession, BadOptionsAreNamed) {
  kvc_client* client = nullptr;
  EXPECT_EQ(open_client(std::string(200, 'x'), &client), KVC_INVALID);
  EXPECT_NE(std::string(kvc_last_error()).find("socket_path"), std::string::npos);
  kvc_client_options options{};
  options.struct_size = sizeof options;
  const std::string long_name(4999, 'n');
  options.namespace_name = long_name.c_str();
  EXPECT_EQ(kvc_client_open(&options, &client), KVC_INVALID);
  EXPECT_STREQ(kvc_last_error(), "namespace_name has 4999 bytes; at most 63");
  options.namespace_name = "";
  EXPECT_EQ(kvc_client_open(&options, &client), KVC_INVALID);
  EXPECT_NE(std::string(kvc_last_error()).find("namespace_name is empty"), std::string::npos);
  options.namespace_name = "two\nlines";
  EXPECT_EQ(kvc_client_open(&options, &client), KVC_INVALID);
  EXPECT_NE(std::string(kvc_last_error()).find("namespace_name may"), std::string::npos);
  options.namespace_name = nullptr;
  options.client_name = "h\xc3\xa9";
  EXPECT_EQ(kvc_client_open(&options, &client), KVC_INVALID) << "also while no daemon is there to refuse it";
  EXPECT_NE(std::string(kvc_last_error()).find("unlike its byte 1"), std::string::npos);
  options.client_name = nullptr;
  options.flags = 0x4000;
  EXPECT_EQ(kvc_client_open(&options, &client), KVC_INVALID);
  EXPECT_EQ(kvc_client_open(nullptr, nullptr), KVC_INVALID);
}

TEST(ClientSession, U07_AnotherMajorVersionIsNamedOnBothSides) {
  FakeDaemon newer({.protocol_major = kProtocolMajor + 1, .protocol_minor = 0});
  const std::string text = error_of_open(newer.path(), KVC_VERSION);
  EXPECT_NE(text.find("protocol 1."), std::string::npos) << text;
  EXPECT_NE(text.find("2.0"), std::string::npos) << text;
  EXPECT_NE(text.find("fake-9"), std::string::npos) << text;
  FakeDaemon refusing({.refusal = Status(Code::kVersion, "daemon 9.9 speaks protocol 3.1")});
  const std::string refusal = error_of_open(refusing.path(), KVC_VERSION);
  EXPECT_NE(refusal.find("3.1"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("protocol 1."), std::string::npos) << refusal;
}

TEST(ClientSession, U07_TheDaemonLearnsTheClientsVersion) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  EXPECT_EQ(daemon.last_client_version(), kvc_version());
  EXPECT_EQ(daemon.last_client_name(), "test");
  EXPECT_STREQ(client.status().daemon_version, "fake-9");
  EXPECT_EQ(client.status().daemon_protocol_major, kProtocolMajor);
}

TEST(ClientSession, ADeniedNamespaceIsAnError) {
  FakeDaemon daemon({.refusal = Status(Code::kDenied, "uid 7 may not use namespace default")});
  EXPECT_EQ(error_of_open(daemon.path(), KVC_DENIED), "uid 7 may not use namespace default");
}

// An engine starts without its cache, and has it when there is a place.
TEST(ClientSession, ARefusalThatPassesIsNoErrorUnlessTheDaemonIsRequired) {
  for (const Code code : {Code::kBusy, Code::kNoSpace, Code::kDeadline, Code::kSystem}) {
    FakeDaemon daemon({.refusal = Status(code, "not now")});
    EXPECT_EQ(error_of_open(daemon.path(), static_cast<int>(code), KVC_REQUIRE), "not now");
    const TestClient client(daemon.path());
    EXPECT_EQ(client.status().connection, KVC_CONNECTING);
    EXPECT_STREQ(client.status().last_error, "not now");
    EXPECT_EQ(client.ready(keys_from(0, 1)), 0U);
    daemon.change({});
    wait_until([&] { return client.is_usable(); });
    client.put(keys_from(0, 1));
  }
}

TEST(ClientSession, ARefusalThatDoesNotPassIsAnError) {
  for (const Code code :
       {Code::kInvalid, Code::kDenied, Code::kNotFound, Code::kVersion, Code::kUnsupported}) {
    FakeDaemon daemon({.refusal = Status(code, "never")});
    EXPECT_NE(error_of_open(daemon.path(), static_cast<int>(code)).find("never"), std::string::npos);
  }
}

TEST(ClientSession, ANameThatCannotBeShownIsNoObstacleWhenNobodyGaveIt) {
  FakeDaemon daemon;
  char* const own = ::program_invocation_short_name;
  std::string name = "\xd0\xb8\n" + std::string(100, 'x');
  ::program_invocation_short_name = name.data();
  kvc_client* client = nullptr;
  kvc_client_options options{};
  options.struct_size = sizeof options;
  options.socket_path = daemon.path().c_str();
  options.flags = KVC_REQUIRE;
  EXPECT_EQ(kvc_client_open(&options, &client), KVC_OK) << kvc_last_error();
  ::program_invocation_short_name = own;
  EXPECT_EQ(daemon.last_client_name(), "???" + std::string(60, 'x'));
  kvc_client_close(client);
}

TEST(ClientSession, ASilentDaemonCostsOneDeadline) {
  FakeDaemon daemon({.is_silent = true});
  error_of_open(daemon.path(), KVC_UNAVAILABLE, KVC_REQUIRE, 30 * kMs);
  const TestClient client(daemon.path(), {}, 30 * kMs);
  EXPECT_FALSE(client.is_connected());
}

TEST(ClientSession, ADeadlineShorterThanAHandshakeConnectsInTheEnd) {
  const FakeDaemon daemon;
  kvc_client* client = nullptr;
  ASSERT_EQ(open_client(daemon.path(), &client, 0, 1), KVC_OK) << kvc_last_error();
  kvc_client_status status{};
  status.struct_size = sizeof status;
  // Endless, which CTest's time limit ends, where each handshake is given up before its answer.
  while (status.connection != KVC_CONNECTED) ASSERT_EQ(kvc_status(client, &status), KVC_OK);
  kvc_client_close(client);
}

TEST(ClientSession, MalformedAnswersAreNoConnection) {
  FakeDaemon short_welcome({.sends_short_welcome = true});
  error_of_open(short_welcome.path(), KVC_UNAVAILABLE, KVC_REQUIRE);
  FakeDaemon hangs_up({.hangs_up_on_hello = true});
  error_of_open(hangs_up.path(), KVC_UNAVAILABLE, KVC_REQUIRE);
}

TEST(ClientSession, AnUnknownMessageEndsTheSession) {
  FakeDaemon daemon({.sends_unknown_message = true});
  const TestClient client(daemon.path());
  wait_until([&] { return daemon.hellos() >= 2; });
  daemon.change({});
  wait_until([&] { return client.is_usable(); });
}

TEST(ClientSession, ARefusedSpaceMakesNoHandle) {
  FakeDaemon daemon({.space_refusal = Status(Code::kNoSpace, "limits.spaces_max is 1")});
  kvc_client* client = nullptr;
  ASSERT_EQ(open_client(daemon.path(), &client), KVC_OK);
  kvc_spec* spec = make_spec();
  kvc_space* space = nullptr;
  EXPECT_EQ(kvc_space_register(client, spec, 0, &space), KVC_NO_SPACE);
  EXPECT_STREQ(kvc_last_error(), "limits.spaces_max is 1");
  EXPECT_EQ(space, nullptr);
  kvc_spec_destroy(spec);
  kvc_client_close(client);
}

TEST(ClientSession, ClosingSaysGoodbyeAndEverythingIsStaleAfterwards) {
  FakeDaemon daemon;
  kvc_client* client = nullptr;
  ASSERT_EQ(open_client(daemon.path(), &client), KVC_OK);
  kvc_spec* spec = make_spec();
  kvc_space* space = nullptr;
  ASSERT_EQ(kvc_space_register(client, spec, 0, &space), KVC_OK);
  kvc_spec_destroy(spec);
  kvc_client_close(client);
  wait_until([&] { return daemon.goodbyes() == 1; });
  std::size_t ready = 0;
  const kvc_key key = key_of(0);
  EXPECT_EQ(kvc_match(space, &key, 1, nullptr, &ready), KVC_STALE);
  kvc_slot slot{};
  EXPECT_EQ(kvc_reserve(space, &key, 1, nullptr, &slot), KVC_STALE);
  kvc_space_close(space);
}

TEST(ClientSession, ALeaseOutlivesTheClient) {
  FakeDaemon daemon;
  auto client = std::make_unique<TestClient>(daemon.path());
  client->put(keys_from(0, 1), 0x44);
  ASSERT_EQ(client->acquire(keys_from(0, 1)), 1U);
  kvc_lease* lease = std::exchange(client->lease, nullptr);
  client.reset();
  EXPECT_EQ(*static_cast<const unsigned char*>(kvc_lease_blocks(lease)[0]), 0x44);
  EXPECT_EQ(daemon.goodbyes(), 0U);
  EXPECT_FALSE(daemon.evict(wire_key_of(0)));
  kvc_lease_destroy(lease);
  wait_until([&] { return daemon.goodbyes() == 1; });
}

TEST(ClientSession, AClientOfTheSameProcessComesAndGoes) {
  FakeDaemon daemon;
  for (int i = 0; i < 50; ++i) {
    const TestClient client(daemon.path());
    ASSERT_EQ(kvc_ping(client.client, 0), KVC_OK);
  }
  wait_until([&] { return daemon.goodbyes() == 50; });
}

TEST(ClientSession, R11_AColdRestartReconnectsAndOldHandlesAreStale) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  client.put(keys_from(0, 2), 0x55);
  ASSERT_EQ(client.acquire(keys_from(0, 2)), 2U);
  std::vector<kvc_slot> slots = client.reserve(keys_from(5, 1));
  daemon.stop(false);
  wait_until([&] { return !client.is_connected(); });
  EXPECT_EQ(client.ready(keys_from(0, 2)), 0U);
  daemon.start();
  wait_until([&] { return client.is_usable(); });
  EXPECT_EQ(client.status().sessions_count, 2U);
  EXPECT_EQ(client.status().resumed_count, 0U);
  EXPECT_EQ(client.first_byte(1), 0x55);  // of the old session, until released
  std::memset(slots[0].data, 1, 4096);    // still mapped
  EXPECT_EQ(kvc_commit(client.space, slots.data(), 1, 0, 0), KVC_STALE);
  kvc_release(client.lease);
  EXPECT_EQ(client.acquire(keys_from(0, 2)), 0U);
  client.put(keys_from(0, 2), 0x56);
  ASSERT_EQ(client.acquire(keys_from(0, 2)), 2U);
  EXPECT_EQ(client.first_byte(), 0x56);
  kvc_release(client.lease);
}

TEST(ClientSession, R11_AWarmRestartKeepsLeasesAndHits) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  client.put(keys_from(0, 3), 0x66);
  ASSERT_EQ(client.acquire(keys_from(0, 3)), 3U);
  std::vector<kvc_slot> slots = client.reserve(keys_from(5, 1));
  daemon.stop(true);
  wait_until([&] { return !client.is_connected(); });
  daemon.start();
  wait_until([&] { return client.is_usable(); });
  EXPECT_EQ(client.status().resumed_count, 1U);
  EXPECT_EQ(client.first_byte(2), 0x66);
  EXPECT_FALSE(daemon.evict(wire_key_of(0)));  // the pin holds in the new daemon
  kvc_release(client.lease);
  EXPECT_EQ(kvc_commit(client.space, slots.data(), 1, 0, 0), KVC_STALE);
  ASSERT_EQ(client.acquire(keys_from(0, 3)), 3U);
  kvc_release(client.lease);
  client.put(keys_from(7, 1), 0x67);
}

// Slots of before and after a restart in one array: each has its own answer, and none stays open at the daemon.
TEST(ClientSession, ASlotOfAnEarlierSessionTakesNoOthersWithIt) {
  for (const bool is_commit : {true, false}) {
    FakeDaemon daemon;
    const TestClient client(daemon.path());
    std::vector<kvc_slot> slots = client.reserve(keys_from(0, 1));
    daemon.stop(true);
    wait_until([&] { return !client.is_connected(); });
    daemon.start();
    wait_until([&] { return client.is_usable(); });
    const std::vector<kvc_slot> later = client.reserve(keys_from(1, 5));
    // All but one, to which the fake daemon gave the earlier one's slot again.
    const auto granted = std::ranges::count(later, KVC_OK, &kvc_slot::code);
    ASSERT_GE(granted, 4);
    slots.insert(slots.begin() + (is_commit ? 0 : 1), later.begin(), later.end());
    const auto finish = is_commit ? kvc_commit : kvc_abort;
    EXPECT_EQ(finish(client.space, slots.data(), slots.size(), KVC_WAIT, 0), KVC_STALE);
    EXPECT_EQ(std::ranges::count(slots, KVC_STALE, &kvc_slot::code), 1);
    EXPECT_EQ(std::ranges::count(slots, KVC_OK, &kvc_slot::code), granted);
    EXPECT_EQ(daemon.with_store(
                  [](const FakeStore& store) { return store.is_pending(SpaceId{1}, wire_key_of(3)); }),
              false);
    EXPECT_EQ(client.stats().reservations_open, 0U);
    EXPECT_EQ(client.ready(keys_from(2, 4)), is_commit ? 4U : 0U);
  }
}

// A daemon that is stopped, or busy, has room for some hundred messages and no more.
TEST(ClientSession, NoRegistrationIsLostWhileTheDaemonReadsNothing) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  daemon.change({.reads_no_messages = true});
  std::vector<kvc_space*> spaces;
  for (int i = 0; i < 600; ++i) {
    const std::string revision = "r" + std::to_string(i);
    kvc_spec* spec = make_spec({.revision = revision.c_str()});
    kvc_space* space = nullptr;
    ASSERT_EQ(kvc_space_register(client.client, spec, 1, &space), KVC_OK) << kvc_last_error();
    kvc_spec_destroy(spec);
    spaces.push_back(space);
  }
  daemon.change({});
  for (kvc_space* space : spaces) {
    wait_until([&] {
      kvc_space_facts facts{};
      facts.struct_size = sizeof facts;
      return kvc_space_info(space, &facts) == KVC_OK && facts.is_registered != 0;
    });
    kvc_space_close(space);
  }
}

TEST(ClientSession, ManyRestartsUnderLoad) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  std::atomic<bool> is_done{false};
  std::thread reads([&] {
    kvc_lease* lease = nullptr;
    EXPECT_EQ(kvc_lease_create(client.client, 8, &lease), KVC_OK);
    const auto keys = keys_from(0, 4);
    while (!is_done) {
      (void)kvc_acquire(client.space, keys.data(), keys.size(), 0, 0, lease);
      for (std::size_t i = 0; i < kvc_lease_count(lease); ++i) {
        EXPECT_EQ(byte_of(lease, i, 0), 0x19);
      }
      kvc_release(lease);
    }
    kvc_lease_destroy(lease);
  });
  for (std::uint64_t i = 0; i < 10; ++i) {
    daemon.stop(i % 2 == 0);
    daemon.start();
    wait_until([&] { return client.status().sessions_count == i + 2 && client.is_usable(); });
    if (client.ready(keys_from(0, 4)) == 0) client.put(keys_from(0, 4), 0x19);
  }
  is_done = true;
  reads.join();
}

TEST(ClientSession, ADaemonThatRefusesToResumeGivesANewSession) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  daemon.change({.refuses_resume = true});
  daemon.hang_up_all();
  wait_until([&] { return client.status().sessions_count == 2 && client.is_usable(); });
  EXPECT_EQ(client.status().resumed_count, 0U);
  EXPECT_EQ(kvc_ping(client.client, 0), KVC_OK);
}

}  // namespace
}  // namespace kvtier::test
