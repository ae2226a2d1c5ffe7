// The client library over the real store and conductor.

#include "tests/unit/client/real_daemon.h"

#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

std::vector<std::uint8_t> states_of(const TestClient& client, const std::vector<kvc_key>& keys) {
  std::vector<std::uint8_t> states(keys.size(), 9);
  std::size_t ready = 0;
  EXPECT_EQ(kvc_match(client.space, keys.data(), keys.size(), states.data(), &ready), KVC_OK);
  return states;
}

using States = std::vector<std::uint8_t>;

// The daemon publishes the slot of a block that is being written; it must not pass for a ready one.
TEST(ClientRealDaemon, ABlockIsMissingThenPendingThenReady) {
  RealDaemon daemon;
  const TestClient writer(daemon.path());
  const TestClient reader(daemon.path());
  const auto keys = keys_from(0, 2);
  EXPECT_EQ(states_of(reader, keys), (States{KVC_MISSING, KVC_MISSING}));
  std::vector<kvc_slot> slots = writer.reserve(keys);
  EXPECT_EQ(states_of(reader, keys), (States{KVC_STATE_PENDING, KVC_STATE_PENDING}));
  EXPECT_EQ(reader.acquire(keys), 0U);
  EXPECT_EQ(reader.reserve(keys)[0].code, KVC_PENDING);
  std::memset(slots[0].data, 0x21, 4096);
  ASSERT_EQ(kvc_commit(writer.space, slots.data(), 1, KVC_WAIT, 0), KVC_OK);
  EXPECT_EQ(states_of(reader, keys), (States{KVC_READY, KVC_STATE_PENDING}));
  ASSERT_EQ(kvc_abort(writer.space, &slots[1], 1, KVC_WAIT, 0), KVC_OK);
  EXPECT_EQ(states_of(reader, keys), (States{KVC_READY, KVC_MISSING}));
  EXPECT_EQ(reader.reserve(keys)[0].code, KVC_EXISTS);
  ASSERT_EQ(reader.acquire(keys), 1U);
  EXPECT_EQ(reader.first_byte(), 0x21);
}

TEST(ClientRealDaemon, WaitEndsAtTheDeadlineOrWithTheBlock) {
  RealDaemon daemon;
  const TestClient writer(daemon.path());
  const TestClient reader(daemon.path());
  const auto keys = keys_from(0, 1);
  std::vector<kvc_slot> slots = writer.reserve(keys);
  std::size_t ready = 9;
  EXPECT_EQ(kvc_wait(reader.space, keys.data(), 1, 20 * kMs, nullptr, &ready), KVC_DEADLINE);
  EXPECT_EQ(ready, 0U);
  std::thread waiter(
      [&] { EXPECT_EQ(kvc_wait(reader.space, keys.data(), 1, 60'000 * kMs, nullptr, &ready), KVC_OK); });
  ASSERT_EQ(kvc_commit(writer.space, slots.data(), 1, 0, 0), KVC_OK);
  waiter.join();
  EXPECT_EQ(ready, 1U);
}

TEST(ClientRealDaemon, PinsInvalidationAndSixtyFourThousandKeys) {
  RealDaemon daemon;
  const TestClient client(daemon.path());
  const auto keys = keys_from(0, 100);
  client.put(keys);
  std::vector<kvc_key> many = keys_from(0, 65536);
  EXPECT_EQ(client.ready(many), 100U);
  std::size_t pinned = 0;
  EXPECT_EQ(kvc_pin(client.space, many.data(), many.size(), 1000 * kMs, 0, &pinned), KVC_OK);
  EXPECT_EQ(pinned, 100U);
  EXPECT_EQ(kvc_unpin(client.space, many.data(), many.size(), 0), KVC_OK);
  std::uint64_t blocks = 0;
  EXPECT_EQ(kvc_invalidate(client.space, 0, &blocks), KVC_OK);
  EXPECT_EQ(blocks, 100U);
  EXPECT_EQ(client.ready(keys), 0U);
}

TEST(ClientRealDaemon, AnAwaitedCommitTellsTheInvalidatedFromThePublished) {
  RealDaemon daemon;
  const TestClient client(daemon.path());
  const auto keys = keys_from(0, 4);
  std::vector<kvc_slot> slots = client.reserve({keys[0], keys[1]});
  ASSERT_EQ(kvc_invalidate(client.space, 0, nullptr), KVC_OK);
  for (const kvc_slot& slot : client.reserve({keys[2], keys[3]})) slots.push_back(slot);
  EXPECT_EQ(kvc_commit(client.space, slots.data(), 4, KVC_WAIT, 0), KVC_STALE);
  EXPECT_EQ(slots[0].code, KVC_STALE);
  EXPECT_EQ(slots[1].code, KVC_STALE);
  EXPECT_EQ(slots[1].cause, KVC_CAUSE_INVALIDATED);
  EXPECT_EQ(slots[2].code, KVC_OK);
  EXPECT_EQ(slots[2].cause, KVC_CAUSE_NONE);
  EXPECT_EQ(slots[3].code, KVC_OK);
  EXPECT_EQ(states_of(client, keys), (States{KVC_MISSING, KVC_MISSING, KVC_READY, KVC_READY}));
}

TEST(ClientRealDaemon, ASlotThatFailsByItselfHasAText) {
  RealDaemon daemon;
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots = client.reserve({key_of(1), key_of(2), key_of(1)});
  EXPECT_EQ(slots[2].code, KVC_INVALID);
  EXPECT_STREQ(kvc_last_error(), "kvc_reserve: keys[2] is there twice");
  EXPECT_EQ(kvc_abort(client.space, slots.data(), 3, KVC_WAIT, 0), KVC_OK);
  slots = client.reserve({key_of(1), kvc_key{}});
  EXPECT_EQ(slots[1].code, KVC_INVALID);
  EXPECT_STREQ(kvc_last_error(), "kvc_reserve: keys[1] is all zero, which names no block");
  EXPECT_EQ(kvc_abort(client.space, slots.data(), 2, KVC_WAIT, 0), KVC_OK);
}

TEST(ClientRealDaemon, ASecondCommitOfASlotIsNamed) {
  RealDaemon daemon;
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots = client.reserve(keys_from(0, 2));
  std::vector<kvc_slot> copies = slots;
  EXPECT_EQ(kvc_commit(client.space, &slots[1], 1, KVC_WAIT, 0), KVC_OK);
  EXPECT_EQ(kvc_commit(client.space, copies.data(), 2, KVC_WAIT, 0), KVC_INVALID);
  EXPECT_NE(std::string(kvc_last_error())
                .find("slots[1]: not reserved any more: it was committed or aborted before"),
            std::string::npos)
      << kvc_last_error();
  EXPECT_EQ(client.ready(keys_from(0, 2)), 2U);
}

// A copy of a slot that is over does nothing to the reservation that has its place by now, and says so without a wait.
TEST(ClientRealDaemon, ALateEndOfACopyLeavesTheNextReservationAlone) {
  RealDaemon daemon;
  const TestClient client(daemon.path());
  std::vector<kvc_slot> first = client.reserve({key_of(1)});
  std::vector<kvc_slot> copy = first;
  ASSERT_EQ(kvc_abort(client.space, first.data(), 1, KVC_WAIT, 0), KVC_OK);
  std::vector<kvc_slot> next = client.reserve({key_of(2)});
  ASSERT_EQ(next[0].private_slot, copy[0].private_slot) << "the place is granted again";
  EXPECT_EQ(kvc_commit(client.space, copy.data(), 1, 0, 0), KVC_INVALID);
  EXPECT_NE(std::string(kvc_last_error()).find("committed or aborted before"), std::string::npos);
  EXPECT_EQ(copy[0].code, KVC_INVALID);
  EXPECT_EQ(client.stats().reservations_open, 1U);
  EXPECT_EQ(kvc_commit(client.space, next.data(), 1, KVC_WAIT, 0), KVC_OK);
  EXPECT_EQ(client.stats().reservations_open, 0U);
  EXPECT_EQ(client.ready({key_of(2)}), 1U);
  EXPECT_EQ(client.ready({key_of(1)}), 0U);
}

TEST(ClientRealDaemon, ARefusalSaysWhatToDo) {
  RealDaemon daemon;
  kvc_client* client = nullptr;
  ASSERT_EQ(open_client(daemon.path(), &client, KVC_READ_ONLY), KVC_OK);
  kvc_spec* spec = make_spec();
  kvc_space* space = nullptr;
  ASSERT_EQ(kvc_space_register(client, spec, 0, &space), KVC_OK);
  kvc_spec_destroy(spec);
  const kvc_key key = key_of(0);
  kvc_slot slot{};
  EXPECT_EQ(kvc_reserve(space, &key, 1, nullptr, &slot), KVC_DENIED);
  EXPECT_EQ(std::string(kvc_last_error()).find("kvc_reserve: this client may only read: it was opened with "),
            0U)
      << kvc_last_error();
  kvc_space_close(space);
  kvc_client_close(client);
}

TEST(ClientRealDaemon, AReserveLongerThanThePoolSaysWhyAndLeavesNothingBehind) {
  RealDaemon daemon;
  const TestClient client(daemon.path());
  const auto keys = keys_from(0, 8192);
  std::vector<kvc_slot> slots = client.reserve(keys);
  EXPECT_EQ(slots.front().code, KVC_OK);
  EXPECT_EQ(slots.back().code, KVC_NO_SPACE);
  EXPECT_NE(slots.back().cause, KVC_CAUSE_NONE);
  EXPECT_EQ(kvc_abort(client.space, slots.data(), slots.size(), 0, 0), KVC_OK);
  EXPECT_EQ(kvc_ping(client.client, 0), KVC_OK);
  EXPECT_EQ(client.stats().reservations_open, 0U);
  client.put(keys_from(9000, 64));
}

TEST(ClientRealDaemon, AWarmRestartResumesTheSessionAndItsLeases) {
  RealDaemon daemon;
  const TestClient client(daemon.path());
  const auto keys = keys_from(0, 3);
  client.put(keys, 0x42);
  ASSERT_EQ(client.acquire(keys), 3U);
  std::vector<kvc_slot> lost = client.reserve(keys_from(10, 1));
  wait_until([&] { return daemon.sums_count() == 3; });
  daemon.stop();
  wait_until([&] { return !client.is_connected(); });
  EXPECT_EQ(client.first_byte(2), 0x42);
  daemon.start();
  wait_until([&] { return client.is_usable(); });
  EXPECT_EQ(client.status().resumed_count, 1U);
  EXPECT_EQ(client.first_byte(2), 0x42);
  EXPECT_EQ(kvc_commit(client.space, lost.data(), 1, 0, 0), KVC_STALE);
  wait_until([&] { return client.ready(keys) == 3; });  // verified, then published again
  kvc_release(client.lease);
  EXPECT_EQ(client.acquire(keys), 3U);
  EXPECT_EQ(client.first_byte(0), 0x42);
}

// Whose clients were closed beside their writers has its memory back: no session is left that keeps slabs. Not at
// once: close() does not wait for slots that are still written, the session ends when they are let go.
TEST(ClientRealDaemon, AClientThatIsClosedBesideItsWritersGivesTheTierBack) {
  RealDaemon daemon;
  for (std::uint64_t round = 0; round < 20; ++round) {
    auto client = std::make_unique<TestClient>(daemon.path());
    kvc_space* space = std::exchange(client->space, nullptr);
    std::atomic<std::uint64_t> answered{0};
    std::vector<std::thread> writers;
    for (std::uint64_t i = 0; i < 3; ++i) {
      writers.emplace_back([&, i] {
        for (std::uint64_t n = 0;; ++n) {
          const kvc_key key{{round + 1, i + 1, n + 1, 9}};
          kvc_slot slot{};
          if (kvc_reserve(space, &key, 1, nullptr, &slot) == KVC_STALE) return;
          answered.fetch_add(1);
          if (slot.code != KVC_OK) continue;
          std::memset(slot.data, 7, 4096);
          (void)kvc_commit(space, &slot, 1, 0, 0);
        }
      });
    }
    wait_until([&] { return answered.load() > 10; });
    client.reset();
    for (std::thread& writer : writers) writer.join();
    kvc_space_close(space);
  }
  const TestClient client(daemon.path());
  const std::vector<kvc_key> keys = keys_from(0, 64);
  wait_until([&] { return client.reserve(keys)[63].code == KVC_OK; });
}

// ---- without claim ----

std::vector<kvc_slot> take(const TestClient& client, const std::vector<kvc_key>& keys) {
  std::vector<kvc_slot> slots(keys.size());
  kvc_reserve_options options{};
  options.struct_size = sizeof options;
  options.flags = KVC_NO_CLAIM;
  EXPECT_EQ(kvc_reserve(client.space, keys.data(), keys.size(), &options, slots.data()), KVC_OK)
      << kvc_last_error();
  for (const kvc_slot& slot : slots) {
    if (slot.data != nullptr) std::memset(slot.data, 0x44, 4096);
  }
  return slots;
}

// Until a call needed no request. Each call is one block, committed.
std::uint64_t write_until_stocked(const TestClient& client, std::uint64_t first) {
  const std::uint64_t before = client.stats().reserve_stocked;
  std::uint64_t next = first;
  while (client.stats().reserve_stocked == before) {
    std::vector<kvc_slot> slots = take(client, keys_from(next++, 1));
    EXPECT_EQ(kvc_commit(client.space, slots.data(), 1, KVC_WAIT, 0), KVC_OK);
  }
  return next;
}

TEST(ClientRealDaemon, BlocksOfAStockAreReadByOthersAndSurviveARestart) {
  RealDaemon daemon;
  const TestClient writer(daemon.path());
  const std::uint64_t count = write_until_stocked(writer, 0);
  std::vector<kvc_slot> open = take(writer, keys_from(5000, 1));
  const TestClient reader(daemon.path());
  EXPECT_EQ(reader.ready(keys_from(0, count)), count);
  wait_until([&] { return reader.acquire(keys_from(count - 1, 1)) == 1; });
  EXPECT_EQ(reader.first_byte(), 0x44);
  wait_until([&] { return daemon.sums_count() >= count; });
  daemon.stop();
  daemon.start();
  wait_until([&] { return writer.status().resumed_count == 1 && writer.is_usable(); });
  EXPECT_EQ(kvc_commit(writer.space, open.data(), 1, KVC_WAIT, 0), KVC_STALE);
  wait_until([&] { return writer.ready(keys_from(0, count)) == count; });
  (void)write_until_stocked(writer, 6000);
}

// Two threads of an engine, say. Another process's slabs, and its stock with them, may be wanted for this one.
TEST(ClientRealDaemon, OfTwoThatComputeTheSameTheFirstCommitWins) {
  RealDaemon daemon;
  const TestClient client(daemon.path());
  client.put(keys_from(10'000, 500));  // an eighth of the slots that are there may be in stocks
  (void)write_until_stocked(client, 0);
  const auto keys = keys_from(5000, 1);
  std::vector<kvc_slot> a = take(client, keys);
  std::vector<kvc_slot> b = take(client, keys);
  ASSERT_EQ(a[0].code, KVC_OK);
  ASSERT_EQ(b[0].code, KVC_OK);
  EXPECT_EQ(kvc_commit(client.space, b.data(), 1, KVC_WAIT, 0), KVC_OK);
  EXPECT_EQ(kvc_commit(client.space, a.data(), 1, KVC_WAIT, 0), KVC_EXISTS);
  EXPECT_EQ(take(client, keys)[0].code, KVC_EXISTS);
}

TEST(ClientRealDaemon, AKeyThatIsNoneIsRefusedWithAndWithoutClaim) {
  RealDaemon daemon;
  const TestClient client(daemon.path());
  (void)write_until_stocked(client, 0);
  std::vector<kvc_slot> slots = take(client, {kvc_key{}, key_of(5000)});
  EXPECT_EQ(slots[0].code, KVC_INVALID);
  EXPECT_EQ(slots[1].code, KVC_OK);
  EXPECT_EQ(kvc_abort(client.space, slots.data(), 2, KVC_WAIT, 0), KVC_OK);
}

// 4096 slots, all with a block: what a refill takes is evicted for it.
TEST(ClientRealDaemon, AFullPoolGoesOnFillingStocks) {
  RealDaemon daemon;
  const TestClient client(daemon.path());
  for (std::uint64_t i = 0; i < 4200; i += 50) client.put(keys_from(10'000 + i, 50));
  const std::uint64_t next = write_until_stocked(client, 0);
  for (std::uint64_t i = next; i < next + 500; ++i) {
    std::vector<kvc_slot> slots = take(client, keys_from(i, 1));
    ASSERT_EQ(kvc_commit(client.space, slots.data(), 1, KVC_WAIT, 0), KVC_OK);
  }
  EXPECT_GT(client.stats().reserve_stocked, 250U);
}

}  // namespace
}  // namespace kvtier::test
