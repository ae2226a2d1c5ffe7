// match, acquire, release.

#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

TEST(ClientRead, BlocksAreFoundAndReadByAnotherClient) {
  FakeDaemon daemon;
  const TestClient writer(daemon.path());
  const TestClient reader(daemon.path());
  writer.put(keys_from(0, 40), 0x11);
  EXPECT_EQ(reader.ready(keys_from(0, 50)), 40U);
  ASSERT_EQ(reader.acquire(keys_from(0, 50)), 40U);
  const void* const* blocks = kvc_lease_blocks(reader.lease);
  for (std::size_t i = 0; i < 40; ++i) {
    const auto* bytes = static_cast<const unsigned char*>(blocks[i]);
    EXPECT_EQ(bytes[0], 0x11);
    EXPECT_EQ(bytes[4095], 0x11);
  }
  EXPECT_EQ(daemon.pinned_count(), 40U);
  EXPECT_EQ(daemon.log_count(), 1U);
  kvc_release(reader.lease);
  EXPECT_EQ(daemon.pinned_count(), 0U);
}

TEST(ClientRead, StatesOfEveryBlock) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  client.put({key_of(0), key_of(2)});
  std::vector<kvc_slot> pending = client.reserve(keys_from(1, 1));
  const auto keys = keys_from(0, 4);
  std::uint8_t states[4] = {9, 9, 9, 9};
  std::size_t ready = 9;
  ASSERT_EQ(kvc_match(client.space, keys.data(), 4, states, &ready), KVC_OK);
  EXPECT_EQ(ready, 1U);
  EXPECT_EQ(states[0], KVC_READY);
  EXPECT_EQ(states[1], KVC_STATE_PENDING);
  EXPECT_EQ(states[2], KVC_READY);
  EXPECT_EQ(states[3], KVC_MISSING);
  EXPECT_EQ(kvc_abort(client.space, pending.data(), 1, KVC_WAIT, 0), KVC_OK);
}

TEST(ClientRead, UnorderedTakesWhatIsThere) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  client.put({key_of(0), key_of(2), key_of(3)});
  EXPECT_EQ(client.acquire(keys_from(0, 5)), 1U);
  kvc_release(client.lease);
  EXPECT_EQ(client.acquire(keys_from(0, 5), KVC_UNORDERED), 3U);
  EXPECT_EQ(kvc_lease_count(client.lease), 5U);
  EXPECT_EQ(kvc_lease_blocks(client.lease)[1], nullptr);
  EXPECT_NE(kvc_lease_blocks(client.lease)[3], nullptr);
  kvc_release(client.lease);
  EXPECT_EQ(client.acquire(keys_from(0, 5), KVC_UNORDERED | KVC_ALL_OR_NOTHING), 0U);
  EXPECT_EQ(kvc_lease_count(client.lease), 5U);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(kvc_lease_blocks(client.lease)[i], nullptr) << "not held, nobody's to read";
  EXPECT_EQ(client.acquire(keys_from(7, 3), KVC_UNORDERED), 0U);
  EXPECT_EQ(kvc_lease_count(client.lease), 3U) << "also when none is there";
  EXPECT_EQ(kvc_lease_blocks(client.lease)[2], nullptr);
  kvc_release(client.lease);
  EXPECT_EQ(kvc_lease_count(client.lease), 0U);
  EXPECT_EQ(client.acquire(keys_from(2, 2), KVC_ALL_OR_NOTHING), 2U);
  kvc_release(client.lease);
  EXPECT_EQ(daemon.pinned_count(), 0U);
}

TEST(ClientRead, L01_ALeaseIsNeverTimedOut) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  client.put(keys_from(0, 1), 0x77);
  ASSERT_EQ(client.acquire(keys_from(0, 1)), 1U);
  EXPECT_FALSE(daemon.evict(wire_key_of(0)));
  EXPECT_EQ(client.first_byte(), 0x77);
  kvc_release(client.lease);
  EXPECT_TRUE(daemon.evict(wire_key_of(0)));
  EXPECT_EQ(client.ready(keys_from(0, 1)), 0U);
  EXPECT_EQ(client.acquire(keys_from(0, 1)), 0U);
}

TEST(ClientRead, L03_P05_MatchPinsNothingAndIsNoUse) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  client.put(keys_from(0, 8));
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(client.ready(keys_from(0, 8)), 8U);
  EXPECT_EQ(daemon.pinned_count(), 0U);
  EXPECT_EQ(daemon.log_count(), 0U);
  EXPECT_TRUE(daemon.evict(wire_key_of(0)));
}

TEST(ClientRead, OversizeEmptyAndDuplicateCalls) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  client.put(keys_from(0, 2));
  const std::vector<kvc_key> many(65536, key_of(0));
  EXPECT_EQ(client.ready(many), 65536U);
  EXPECT_EQ(client.acquire(many), 65536U);
  EXPECT_EQ(daemon.pinned_count(), 1U);
  kvc_release(client.lease);
  EXPECT_EQ(daemon.pinned_count(), 0U);
  std::size_t ready = 7;
  EXPECT_EQ(kvc_match(client.space, nullptr, 0, nullptr, &ready), KVC_OK);
  EXPECT_EQ(ready, 0U);
  EXPECT_EQ(kvc_acquire(client.space, nullptr, 0, 0, 0, client.lease), KVC_OK);
  EXPECT_EQ(kvc_lease_count(client.lease), 0U);
}

TEST(ClientRead, AFullLeaseIsNotOverwritten) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  client.put(keys_from(0, 1));
  ASSERT_EQ(client.acquire(keys_from(0, 1)), 1U);
  const kvc_key key = key_of(0);
  EXPECT_EQ(kvc_acquire(client.space, &key, 1, 0, 0, client.lease), KVC_BUSY);
  EXPECT_EQ(kvc_acquire(client.space, &key, 1, KVC_WAIT, 0, client.lease), KVC_INVALID);
  EXPECT_EQ(kvc_acquire(nullptr, &key, 1, 0, 0, client.lease), KVC_INVALID);
  kvc_release(client.lease);
  kvc_release(client.lease);  // idempotent
  EXPECT_EQ(daemon.pinned_count(), 0U);
}

}  // namespace
}  // namespace kvtier::test
