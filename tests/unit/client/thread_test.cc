// One client, many threads. Its worth is under ThreadSanitizer (-DKVTIER_SANITIZE=thread).

#include "libkvclient/src/handles.h"
#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

constexpr int kRounds = 200;

void write_blocks(const TestClient& client, std::uint64_t first) {
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    const kvc_key key = key_of(first + i);
    kvc_slot slot{};
    ASSERT_EQ(kvc_reserve(client.space, &key, 1, nullptr, &slot), KVC_OK) << kvc_last_error();
    if (slot.code != KVC_OK) continue;
    std::memset(slot.data, 7, 4096);
    const bool commits = i % 8 != 0;
    ASSERT_EQ(commits ? kvc_commit(client.space, &slot, 1, 0, 0) : kvc_abort(client.space, &slot, 1, 0, 0),
              KVC_OK);
  }
}

void read_blocks(const TestClient& client, const std::atomic<bool>& is_done) {
  kvc_lease* lease = nullptr;
  ASSERT_EQ(kvc_lease_create(client.client, 64, &lease), KVC_OK);
  const auto keys = keys_from(0, 64);
  while (!is_done) {
    ASSERT_EQ(kvc_acquire(client.space, keys.data(), keys.size(), KVC_UNORDERED, 1, lease), KVC_OK);
    for (std::size_t i = 0; i < kvc_lease_count(lease); ++i) {
      if (kvc_lease_blocks(lease)[i] == nullptr) continue;
      ASSERT_EQ(byte_of(lease, i, 4095), 7);
    }
    kvc_release(lease);
  }
  kvc_lease_destroy(lease);
}

TEST(ClientThreads, ReadersWritersAndTheDaemonsMoves) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  std::atomic<bool> is_done{false};
  std::vector<std::thread> readers;
  std::vector<std::thread> writers;
  for (int i = 0; i < 2; ++i) readers.emplace_back([&] { read_blocks(client, is_done); });
  for (std::uint64_t i = 0; i < 2; ++i) writers.emplace_back([&, i] { write_blocks(client, i * kRounds); });
  for (std::uint32_t i = 0; i < 20; ++i) {
    daemon.revoke(i % 2);
    daemon.move_directory();
    (void)client.stats();
    (void)client.status();
    (void)kvc_ping(client.client, 0);
  }
  for (std::thread& thread : writers) thread.join();
  is_done = true;
  for (std::thread& thread : readers) thread.join();
  EXPECT_EQ(client.stats().reservations_open, 0U);
  EXPECT_EQ(client.stats().leases_open, 0U);
  EXPECT_EQ(daemon.pinned_count(), 0U);
}

TEST(ClientThreads, SpacesComeAndGoWhileTheDaemonHangsUp) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  std::atomic<bool> is_done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      kvc_spec* spec = make_spec({.adapter = "other"});
      while (!is_done) {
        kvc_space* space = nullptr;
        ASSERT_EQ(kvc_space_register(client.client, spec, 0, &space), KVC_OK);
        std::size_t ready = 0;
        const kvc_key key = key_of(0);
        (void)kvc_match(space, &key, 1, nullptr, &ready);
        kvc_space_close(space);
      }
      kvc_spec_destroy(spec);
    });
  }
  for (std::uint64_t i = 0; i < 10; ++i) {
    daemon.hang_up_all();
    wait_until([&] { return client.status().sessions_count == i + 2 && client.is_usable(); });
  }
  is_done = true;
  for (std::thread& thread : threads) thread.join();
}

// The service thread waits for the reader, which stays; were Core's mutex held meanwhile, nothing here would return. The
// later slabs are taken in when the reader has left.
TEST(ClientThreads, NoCallWaitsForAReaderWhenASlabComes) {
  FakeDaemon daemon({.announces_slabs_late = true});
  const TestClient client(daemon.path());
  client::Core& core = *client.client->core;
  {
    const client::ReadSection slow(core.readers, core.view);
    daemon.announce_slabs();
    wait_until([&] { return client.status().slabs_count == 1; });
    client.put(keys_from(0, 3));
    EXPECT_EQ(client.acquire(keys_from(0, 3)), 3U) << "lent, so in the view";
    EXPECT_EQ(client.status().slabs_count, 1U);
    EXPECT_EQ(slow.view()->slabs.size(), 0U) << "the reader's own view is still there";
  }
  wait_until([&] { return client.status().slabs_count == FakeStore::kSlabs; });
  kvc_release(client.lease);
}

}  // namespace
}  // namespace kvtier::test
