// kvc_client_close while other threads call, and while the daemon talks.

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
