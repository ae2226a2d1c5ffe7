// kvc_client_close while other threads call, and while the daemon talks.

#include <functional>

#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

/// A client whose handles outlive it, as other threads of an engine have them.
struct ClosingClient {
  explicit ClosingClient(const std::string& path) {
    EXPECT_EQ(open_client(path, &client, 0, 60'000 * kMs), KVC_OK) << kvc_last_error();
    kvc_spec* spec = make_spec();
    EXPECT_EQ(kvc_space_register(client, spec, 0, &space), KVC_OK) << kvc_last_error();
    kvc_spec_destroy(spec);
  }
  ClosingClient(const ClosingClient&) = delete;
  ClosingClient& operator=(const ClosingClient&) = delete;
  ~ClosingClient() { kvc_space_close(space); }

  [[nodiscard]] std::uint64_t requests() const {
    kvc_client_stats stats{};
    stats.struct_size = sizeof stats;
    EXPECT_EQ(kvc_stats(client, &stats), KVC_OK);
    return stats.requests;
  }

  /// A block of sevens, for key 0.
  void put() const {
    const kvc_key key = key_of(0);
    kvc_slot slot{};
    ASSERT_EQ(kvc_reserve(space, &key, 1, nullptr, &slot), KVC_OK) << kvc_last_error();
    ASSERT_NE(slot.data, nullptr);
    std::memset(slot.data, 7, 4096);
    ASSERT_EQ(kvc_commit(space, &slot, 1, KVC_WAIT, 0), KVC_OK) << kvc_last_error();
  }

  kvc_client* client = nullptr;
  kvc_space* space = nullptr;
};

// Until the close shows. Every slot that is granted can be written, whenever the close comes.
void write_until_stale(kvc_space* space, std::uint64_t number, std::atomic<std::uint64_t>& granted) {
  while (true) {
    const kvc_key key = key_of(number);
    kvc_slot slot{};
    const int code = kvc_reserve(space, &key, 1, nullptr, &slot);
    if (code == KVC_STALE) return;
    ASSERT_EQ(code, KVC_OK) << kvc_last_error();
    if (slot.code == KVC_STALE) continue;
    ASSERT_EQ(slot.code, KVC_OK);
    std::memset(slot.data, 7, 4096);
    granted.fetch_add(1, std::memory_order_relaxed);
    const int ended = kvc_abort(space, &slot, 1, KVC_WAIT, 0);
    ASSERT_TRUE(ended == KVC_OK || ended == KVC_STALE) << kvc_last_error();
  }
}

TEST(ClientClose, WritersFinishOrFindItStaleAndTheGoodbyeIsSaid) {
  constexpr std::uint32_t kRounds = 50;
  FakeDaemon daemon;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const ClosingClient closing(daemon.path());
    std::atomic<std::uint64_t> granted{0};
    std::vector<std::thread> writers;
    for (std::uint64_t i = 0; i < 3; ++i)
      writers.emplace_back([&, i] { write_until_stale(closing.space, 3 * round + i, granted); });
    wait_until([&] { return granted.load(std::memory_order_relaxed) > 3; });
    kvc_client_close(closing.client);
    for (std::thread& writer : writers) writer.join();
  }
  wait_until([&] { return daemon.goodbyes() == kRounds; });
}

// The granted slot's slab is never announced: only the close can end the wait for it.
TEST(ClientClose, AReservationThatWaitsForItsSlabIsStale) {
  FakeDaemon daemon({.announces_slabs_late = true});
  const ClosingClient closing(daemon.path());
  std::thread reserving([&] {
    const kvc_key key = key_of(0);
    kvc_slot slot{};
    const int code = kvc_reserve(closing.space, &key, 1, nullptr, &slot);
    EXPECT_TRUE(code == KVC_STALE || (code == KVC_OK && slot.code == KVC_STALE));
    EXPECT_EQ(slot.data, nullptr);
  });
  wait_until([&] { return daemon.writing_count() == 1; });
  kvc_client_close(closing.client);
  reserving.join();
  wait_until([&] { return daemon.goodbyes() == 1; });
}

TEST(ClientClose, ARequestThatIsNotAnsweredIsStale) {
  FakeDaemon daemon({.unanswered = {Op::kEcho, Op::kInvalidate}});
  const ClosingClient closing(daemon.path());
  std::thread invalidating([&] { EXPECT_EQ(kvc_invalidate(closing.space, 0, nullptr), KVC_STALE); });
  wait_until([&] { return closing.requests() == 1; });
  kvc_client_close(closing.client);
  invalidating.join();
  wait_until([&] { return daemon.goodbyes() == 1; });
}

// ---- whatever the client holds, a call of another thread ends ----

enum class Holds : std::uint8_t { kNothing, kLease, kSlot };

/// A call that nothing but the close can end.
struct WaitingCall {
  const char* name;
  Misbehaviour daemon;
  std::function<int(const struct CallClose& test)> run;
  bool ends_a_slot = false;
};

struct CallClose {
  explicit CallClose(const WaitingCall& waiting, Holds holds) : call(waiting) {
    closing.put();
    kvc_lease_create(closing.client, 4, &lease);
    kvc_lease_create(closing.client, 4, &lease_of_call);
    if (holds == Holds::kLease) {
      EXPECT_EQ(kvc_acquire(closing.space, &kReady, 1, 0, 0, lease), KVC_OK);
      EXPECT_EQ(kvc_lease_held(lease), 1U);
    }
    if (holds == Holds::kSlot) slot = reserve(closing, kSlot);
    if (call.ends_a_slot) slot_of_call = reserve(closing, kOfCall);
    EXPECT_EQ(kvc_reserve(other.space, &kPending, 1, nullptr, &pending), KVC_OK);
    daemon.change(call.daemon);
  }
  CallClose(const CallClose&) = delete;
  CallClose& operator=(const CallClose&) = delete;
  ~CallClose() {
    kvc_lease_destroy(lease_of_call);
    kvc_lease_destroy(lease);
    kvc_spec_destroy(spec);
  }

  void run() {
    const std::uint64_t before = closing.requests() + daemon.registrations();
    std::thread calling([&] { EXPECT_EQ(call.run(*this), KVC_STALE) << call.name << kvc_last_error(); });
    wait_until([&] { return closing.requests() + daemon.registrations() > before; });
    kvc_client_close(closing.client);
    calling.join();
    // What the client still holds is good until it is given back, and then the daemon hears of the end.
    for (std::size_t i = 0; i < kvc_lease_held(lease); ++i) EXPECT_EQ(byte_of(lease, i, 5), 7);
    kvc_release(lease);
    for (kvc_slot* each : {&slot, &slot_of_call}) {
      if (each->data == nullptr) continue;
      std::memset(each->data, 1, 4096);
      EXPECT_EQ(kvc_abort(closing.space, each, 1, 0, 0), KVC_STALE);
    }
    wait_until([&] { return daemon.goodbyes() == 1; });
  }

  static kvc_slot reserve(const ClosingClient& client, const kvc_key& key) {
    kvc_slot granted{};
    EXPECT_EQ(kvc_reserve(client.space, &key, 1, nullptr, &granted), KVC_OK) << kvc_last_error();
    EXPECT_NE(granted.data, nullptr);
    return granted;
  }

  const kvc_key kReady = key_of(0), kSlot = key_of(1), kPending = key_of(2), kOfCall = key_of(3);
  const WaitingCall& call;
  FakeDaemon daemon;
  const TestClient other{daemon.path()};
  const ClosingClient closing{daemon.path()};
  kvc_spec* spec = make_spec({.adapter = "other"});
  kvc_lease* lease = nullptr;
  kvc_lease* lease_of_call = nullptr;
  kvc_slot slot{};
  mutable kvc_slot slot_of_call{};
  kvc_slot pending{};
};

const std::vector<WaitingCall>& waiting_calls() {
  static const std::vector<WaitingCall> calls = {
      {"kvc_wait",
       {},
       [](const CallClose& test) {
         std::size_t ready = 0;
         return kvc_wait(test.closing.space, &test.kPending, 1, 0, nullptr, &ready);
       }},
      {"kvc_restore",
       {},
       [](const CallClose& test) {
         std::size_t ready = 0;
         return kvc_restore(test.closing.space, &test.kPending, 1, 0, nullptr, &ready);
       }},
      {"kvc_ping",
       {.unanswered = {Op::kEcho}},
       [](const CallClose& test) { return kvc_ping(test.closing.client, 0); }},
      {"kvc_pin",
       {.unanswered = {Op::kPin}},
       [](const CallClose& test) { return kvc_pin(test.closing.space, &test.kReady, 1, 1000, 0, nullptr); }},
      {"kvc_unpin",
       {.unanswered = {Op::kUnpin}},
       [](const CallClose& test) { return kvc_unpin(test.closing.space, &test.kReady, 1, 0); }},
      {"kvc_invalidate",
       {.unanswered = {Op::kInvalidate}},
       [](const CallClose& test) { return kvc_invalidate(test.closing.space, 0, nullptr); }},
      {"kvc_invalidate_namespace",
       {.unanswered = {Op::kInvalidate}},
       [](const CallClose& test) { return kvc_invalidate_namespace(test.closing.client, 0, nullptr); }},
      {"kvc_reserve",
       {.unanswered = {Op::kReserve}},
       [](const CallClose& test) {
         const kvc_key key = key_of(9);
         kvc_slot slot{};
         return kvc_reserve(test.closing.space, &key, 1, nullptr, &slot);
       }},
      {"kvc_commit",
       {.unanswered = {Op::kCommit}},
       [](const CallClose& test) {
         return kvc_commit(test.closing.space, &test.slot_of_call, 1, KVC_WAIT, 0);
       },
       true},
      {"kvc_commit_acquire",
       {.unanswered = {Op::kCommit}},
       [](const CallClose& test) {
         return kvc_commit_acquire(test.closing.space, &test.slot_of_call, 1, 0, test.lease_of_call);
       },
       true},
      {"kvc_abort",
       {.unanswered = {Op::kAbort}},
       [](const CallClose& test) {
         return kvc_abort(test.closing.space, &test.slot_of_call, 1, KVC_WAIT, 0);
       },
       true},
      {"kvc_acquire with KVC_VERIFY",
       {.unanswered = {Op::kSums}},
       [](const CallClose& test) {
         return kvc_acquire(test.closing.space, &test.kReady, 1, KVC_VERIFY, 0, test.lease_of_call);
       }},
      {"kvc_space_register",
       {.ignores_spaces = true},
       [](const CallClose& test) {
         kvc_space* space = nullptr;
         return kvc_space_register(test.closing.client, test.spec, 0, &space);
       }},
  };
  return calls;
}

TEST(ClientClose, EveryCallThatWaitsEndsWhateverIsOpen) {
  for (const WaitingCall& call : waiting_calls()) {
    for (const Holds holds : {Holds::kNothing, Holds::kLease, Holds::kSlot}) {
      SCOPED_TRACE(std::string(call.name) + ", holds " + std::to_string(static_cast<int>(holds)));
      CallClose(call, holds).run();
    }
  }
}

// A message that the client has not read when it closes its socket would reset the connection: the daemon would
// read that instead of the goodbye.
TEST(ClientClose, TheGoodbyeArrivesAlthoughTheDaemonTalks) {
  constexpr std::uint32_t kRounds = 50;
  FakeDaemon daemon({.is_talkative = true});
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const ClosingClient closing(daemon.path());
    kvc_client_close(closing.client);
  }
  EXPECT_EQ(daemon.goodbyes(), kRounds);
}

}  // namespace
}  // namespace kvtier::test
