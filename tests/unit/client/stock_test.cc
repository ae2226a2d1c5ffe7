// kvc_reserve with KVC_NO_CLAIM: from the stock, without a round trip, and as an ordinary call where it has too few.

#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

std::vector<kvc_slot> take(const TestClient& client, const std::vector<kvc_key>& keys,
                           std::uint32_t more_flags = 0) {
  std::vector<kvc_slot> slots(keys.size());
  kvc_reserve_options options{};
  options.struct_size = sizeof options;
  options.flags = KVC_NO_CLAIM | more_flags;
  EXPECT_EQ(kvc_reserve(client.space, keys.data(), keys.size(), &options, slots.data()), KVC_OK)
      << kvc_last_error();
  return slots;
}

// The first call claims, and has the stock filled. What it claimed is given back.
void fill_stock(const FakeDaemon& daemon, const TestClient& client, std::size_t need = 1) {
  const std::uint32_t before = daemon.refills();
  const std::uint64_t stocked = client.stats().reserve_stocked;
  std::vector<kvc_slot> slots = take(client, keys_from(100'000, need));
  ASSERT_EQ(client.stats().reserve_stocked, stocked);
  ASSERT_EQ(kvc_abort(client.space, slots.data(), slots.size(), KVC_WAIT, 0), KVC_OK);
  wait_until([&] { return daemon.refills() > before; });
}

int commit(const TestClient& client, std::vector<kvc_slot>& slots, std::uint32_t flags = KVC_WAIT) {
  for (const kvc_slot& slot : slots) {
    if (slot.data != nullptr) std::memset(slot.data, 0x31, 4096);
  }
  return kvc_commit(client.space, slots.data(), slots.size(), flags, 0);
}

std::uint8_t state_of(const TestClient& client, std::uint64_t number) {
  const kvc_key key = key_of(number);
  std::uint8_t state = 9;
  std::size_t ready = 0;
  EXPECT_EQ(kvc_match(client.space, &key, 1, &state, &ready), KVC_OK);
  return state;
}

TEST(ClientStock, ABlockIsWrittenWithoutARequest) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  fill_stock(daemon, client);
  const std::uint64_t requests = client.stats().requests;
  std::vector<kvc_slot> slots = take(client, keys_from(0, 2));
  EXPECT_EQ(slots[0].code, KVC_OK);
  EXPECT_EQ(state_of(client, 0), KVC_MISSING) << "nobody has claimed it";
  EXPECT_EQ(client.stats().reservations_open, 2U);
  EXPECT_EQ(commit(client, slots, 0), KVC_OK);
  EXPECT_EQ(client.stats().requests, requests);
  EXPECT_EQ(client.stats().reserve_stocked, 2U);
  wait_until([&] { return client.ready(keys_from(0, 2)) == 2; });
  ASSERT_EQ(client.acquire(keys_from(0, 2)), 2U);
  EXPECT_EQ(client.first_byte(1), 0x31);
  EXPECT_EQ(client.stats().reservations_open, 0U);
}

TEST(ClientStock, WhatIsThereOrClaimedIsAnsweredFromTheDirectory) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  const TestClient other(daemon.path());
  fill_stock(daemon, client);
  other.put(keys_from(0, 1));
  const std::vector<kvc_slot> claimed = other.reserve(keys_from(1, 1));
  const std::uint64_t requests = client.stats().requests;
  std::vector<kvc_slot> slots = take(client, keys_from(0, 3));
  EXPECT_EQ(slots[0].code, KVC_EXISTS);
  EXPECT_EQ(slots[1].code, KVC_PENDING);
  EXPECT_EQ(slots[2].code, KVC_OK);
  EXPECT_EQ(slots[0].data, nullptr);
  EXPECT_EQ(client.stats().requests, requests);
  EXPECT_EQ(commit(client, slots), KVC_OK);
}

TEST(ClientStock, ALostRaceShowsAtTheCommit) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  const TestClient other(daemon.path());
  fill_stock(daemon, client, 4);
  std::vector<kvc_slot> slots = take(client, keys_from(0, 3));
  other.put(keys_from(0, 1), 0x77);
  const std::vector<kvc_slot> claimed = other.reserve(keys_from(1, 1));
  EXPECT_EQ(commit(client, slots), KVC_EXISTS);
  EXPECT_EQ(slots[0].code, KVC_EXISTS);
  EXPECT_EQ(slots[1].code, KVC_PENDING);
  EXPECT_EQ(slots[2].code, KVC_OK);
  ASSERT_EQ(client.acquire(keys_from(0, 1)), 1U);
  EXPECT_EQ(client.first_byte(), 0x77) << "the first one's bytes";
  EXPECT_EQ(client.stats().reservations_open, 0U);
}

TEST(ClientStock, AnAbortedSlotIsTheDaemonsAgain) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  fill_stock(daemon, client);
  const std::size_t before = daemon.with_store([](FakeStore& store) { return store.stocked_count(); });
  std::vector<kvc_slot> slots = take(client, keys_from(0, 2));
  EXPECT_EQ(kvc_abort(client.space, slots.data(), 2, KVC_WAIT, 0), KVC_OK);
  EXPECT_EQ(daemon.with_store([](FakeStore& store) { return store.stocked_count(); }), before - 2);
}

TEST(ClientStock, TooFewForTheWholeCallMeansAnOrdinaryCallAndALargerStock) {
  for (const std::uint32_t flags : {0U, std::uint32_t{KVC_ALL_OR_NOTHING}}) {
    FakeDaemon daemon;
    const TestClient client(daemon.path());
    fill_stock(daemon, client);
    const std::uint32_t refills = daemon.refills();
    std::vector<kvc_slot> slots = take(client, keys_from(0, 20), flags);
    EXPECT_EQ(client.stats().reserve_stocked, 0U) << "one round trip for all of it, nothing from the stock";
    EXPECT_EQ(state_of(client, 0), KVC_STATE_PENDING);
    EXPECT_EQ(commit(client, slots), KVC_OK);
    wait_until([&] { return daemon.refills() > refills; });
    slots = take(client, keys_from(20, 20), flags);
    EXPECT_EQ(client.stats().reserve_stocked, 20U);
    EXPECT_EQ(commit(client, slots), KVC_OK);
  }
}

TEST(ClientStock, ALongCallIsAnOrdinaryOne) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  fill_stock(daemon, client);
  std::vector<kvc_slot> slots = take(client, keys_from(0, 500));
  EXPECT_EQ(client.stats().reserve_stocked, 0U);
  EXPECT_EQ(commit(client, slots), KVC_OK);
  slots = take(client, keys_from(0, 502));  // 500 are there, 2 are missing
  EXPECT_EQ(client.stats().reserve_stocked, 2U);
  EXPECT_EQ(slots[499].code, KVC_EXISTS);
  EXPECT_EQ(commit(client, slots), KVC_OK);
}

TEST(ClientStock, OneRefillIsUnderWayAtATime) {
  FakeDaemon daemon({.unanswered = {Op::kStock}});
  const TestClient client(daemon.path());
  for (std::uint64_t i = 0; i < 5; ++i) {
    std::vector<kvc_slot> slots = take(client, keys_from(i, 1));
    EXPECT_EQ(commit(client, slots), KVC_OK);
  }
  EXPECT_EQ(client.stats().reserve_stocked, 0U);
  daemon.answer_now();
  EXPECT_EQ(daemon.refills(), 1U);
  std::vector<kvc_slot> slots = take(client, keys_from(50, 1));
  EXPECT_EQ(client.stats().reserve_stocked, 1U);
  EXPECT_EQ(commit(client, slots), KVC_OK);
}

TEST(ClientStock, ARefillIsAskedForAheadOfNeed) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  fill_stock(daemon, client);
  for (std::uint64_t i = 0; i < 100; ++i) {
    std::vector<kvc_slot> slots = take(client, keys_from(i, 1));
    EXPECT_EQ(commit(client, slots),
              KVC_OK);  // its answer comes after the refill that was asked for before it
  }
  EXPECT_EQ(client.stats().reserve_stocked, 100U) << "no call found the stock empty";
  EXPECT_LT(daemon.refills(), 60U) << "several slots a refill";
}

TEST(ClientStock, WhatTheDaemonTookBackIsClaimedInstead) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  fill_stock(daemon, client);
  std::vector<kvc_slot> slots = take(client, keys_from(0, 1));
  EXPECT_GT(daemon.with_store([](FakeStore& store) { return store.take_back(); }), 0U);
  std::vector<kvc_slot> more = take(client, keys_from(1, 1));
  EXPECT_EQ(client.stats().reserve_stocked, 1U);
  EXPECT_EQ(commit(client, slots), KVC_OK) << "taken is taken";
  EXPECT_EQ(commit(client, more), KVC_OK);
}

TEST(ClientStock, NoRefillIsAskedOfADaemonWithoutRoom) {
  FakeDaemon daemon;
  daemon.with_store([](FakeStore& store) {
    store.slots_limit = 2;
    store.usable_slabs = 1;
  });
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots = take(client, keys_from(0, 3));
  EXPECT_EQ(slots[2].code, KVC_NO_SPACE);
  EXPECT_EQ(commit(client, slots), KVC_OK);
  EXPECT_EQ(daemon.refills(), 0U);
}

TEST(ClientStock, U07_ADaemonWithoutStocksIsAskedForNone) {
  FakeDaemon daemon({.protocol_minor = kStockMinor - 1});
  const TestClient client(daemon.path());
  for (std::uint64_t i = 0; i < 3; ++i) {
    std::vector<kvc_slot> slots = take(client, keys_from(i, 1));
    EXPECT_EQ(slots[0].code, KVC_OK);
    EXPECT_EQ(commit(client, slots), KVC_OK);
  }
  EXPECT_EQ(daemon.refills(), 0U);
  EXPECT_EQ(client.stats().reserve_stocked, 0U);
}

// A slot is granted on the ring, its slab announced on the socket.
TEST(ClientStock, AnOfferInASlabThatIsNotMappedYetStaysOnOffer) {
  FakeDaemon daemon({.announces_slabs_late = true});
  const TestClient client(daemon.path(), {}, 50 * kMs);
  std::vector<kvc_slot> slots = take(client, keys_from(0, 1));
  EXPECT_EQ(slots[0].code, KVC_DEADLINE) << "claimed, and not mapped in time";
  wait_until([&] { return daemon.refills() == 1; });
  slots = take(client, keys_from(1, 1));
  EXPECT_EQ(slots[0].code, KVC_DEADLINE);
  EXPECT_EQ(client.stats().reserve_stocked, 0U);
  daemon.announce_slabs();
  wait_until([&] { return client.status().slabs_count == FakeStore::kSlabs; });
  slots = take(client, keys_from(2, 1));
  EXPECT_EQ(client.stats().reserve_stocked, 1U);
  EXPECT_EQ(commit(client, slots), KVC_OK);
}

TEST(ClientStock, AHangUpLosesWhatWasTakenAndTheNextSessionHasAStockOfItsOwn) {
  for (const bool is_resumed : {true, false}) {
    FakeDaemon daemon({.refuses_resume = !is_resumed});
    const TestClient client(daemon.path());
    fill_stock(daemon, client);
    std::vector<kvc_slot> slots = take(client, keys_from(0, 2));
    std::memset(slots[0].data, 1, 4096);
    daemon.hang_up_all();
    wait_until([&] { return client.status().sessions_count == 2 && client.is_usable(); });
    std::memset(slots[1].data, 1, 4096);  // still mapped
    EXPECT_EQ(commit(client, slots), KVC_STALE);
    fill_stock(daemon, client);
    slots = take(client, keys_from(1, 1));
    EXPECT_EQ(client.stats().reserve_stocked, 3U);
    EXPECT_EQ(commit(client, slots), KVC_OK);
    EXPECT_EQ(client.stats().reservations_open, 0U);
  }
}

// The count of refills that the daemon carried out does not catch up with what died with it.
TEST(ClientStock, ARefillThatAHangUpLostIsAskedForAgain) {
  FakeDaemon daemon({.unanswered = {Op::kStock}});
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots = take(client, keys_from(0, 1));
  EXPECT_EQ(commit(client, slots), KVC_OK);
  daemon.change({});
  daemon.hang_up_all();
  wait_until([&] { return client.status().resumed_count == 1 && client.is_usable(); });
  fill_stock(daemon, client);
  EXPECT_EQ(daemon.refills(), 1U);
}

TEST(ClientStock, AClosedClientsSlotsCanBeFilledAndAreLost) {
  FakeDaemon daemon;
  auto client = std::make_unique<TestClient>(daemon.path());
  fill_stock(daemon, *client);
  std::vector<kvc_slot> slots = take(*client, keys_from(0, 1));
  kvc_client_close(client->client);
  std::memset(slots[0].data, 1, 4096);
  EXPECT_EQ(commit(*client, slots), KVC_STALE);
  kvc_slot more{};
  kvc_reserve_options options{};
  options.struct_size = sizeof options;
  options.flags = KVC_NO_CLAIM;
  const kvc_key key = key_of(1);
  EXPECT_EQ(kvc_reserve(client->space, &key, 1, &options, &more), KVC_STALE);
  client->client = nullptr;
}

// One thread's writes: takes, fills with its own byte, commits or aborts, reads what it committed, has it evicted.
void write_own_blocks(FakeDaemon& daemon, const TestClient& client, std::uint64_t thread) {
  constexpr std::uint64_t kRounds = 150;
  kvc_lease* lease = nullptr;
  ASSERT_EQ(kvc_lease_create(client.client, 2, &lease), KVC_OK);
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    const std::uint64_t first = 1000 * (thread + 1) + 2 * i;
    const auto keys = keys_from(first, 2);
    std::vector<kvc_slot> slots = take(client, keys);
    for (const kvc_slot& slot : slots) std::memset(slot.data, static_cast<int>(thread + 1), 4096);
    if (i % 8 == 0) {
      ASSERT_EQ(kvc_abort(client.space, slots.data(), 2, 0, 0), KVC_OK);
      continue;
    }
    ASSERT_EQ(kvc_commit(client.space, slots.data(), 2, 0, 0), KVC_OK);
    wait_until([&] { return client.ready(keys) == 2; });
    ASSERT_EQ(kvc_acquire(client.space, keys.data(), 2, KVC_ALL_OR_NOTHING, 0, lease), KVC_OK);
    ASSERT_EQ(kvc_lease_held(lease), 2U);
    for (std::size_t at = 0; at < 4096; at += 512) ASSERT_EQ(byte_of(lease, at % 2, at), thread + 1);
    kvc_release(lease);
    for (std::uint64_t n = 0; n < 2; ++n) ASSERT_TRUE(daemon.evict(wire_key_of(first + n)));
  }
  kvc_lease_destroy(lease);
}

// Threads that take at the same time, a daemon that takes back: no slot is had twice, no byte is another's.
TEST(ClientStock, ThreadsShareAStock) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  std::atomic<bool> is_done{false};
  std::vector<std::thread> writers;
  for (std::uint64_t i = 0; i < 4; ++i) writers.emplace_back([&, i] { write_own_blocks(daemon, client, i); });
  std::thread taking_back([&] {
    while (!is_done) {
      (void)daemon.with_store([](FakeStore& store) { return store.take_back(); });
      std::this_thread::yield();
    }
  });
  for (std::thread& writer : writers) writer.join();
  is_done = true;
  taking_back.join();
  EXPECT_GT(client.stats().reserve_stocked, 0U);
  EXPECT_EQ(client.stats().reservations_open, 0U);
  EXPECT_EQ(daemon.writing_count(), 0U);
}

}  // namespace
}  // namespace kvtier::test
