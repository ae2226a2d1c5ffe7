// kvc_wait: pending blocks, and blocks in slabs that are not mapped yet.

#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

int wait_for(const TestClient& client, const std::vector<kvc_key>& keys, std::uint64_t deadline_ns,
             std::size_t& ready) {
  return kvc_wait(client.space, keys.data(), keys.size(), deadline_ns, nullptr, &ready);
}

TEST(ClientWait, EndsWhenTheWriterCommits) {
  FakeDaemon daemon;
  const TestClient writer(daemon.path());
  const TestClient reader(daemon.path());
  std::vector<kvc_slot> slots = writer.reserve(keys_from(0, 1));
  std::thread commits([&] {
    wait_until([&] { return reader.stats().requests > 0; });
    EXPECT_EQ(kvc_commit(writer.space, slots.data(), 1, 0, 0), KVC_OK);
  });
  const kvc_key key = key_of(0);
  std::uint8_t state = 9;
  std::size_t ready = 0;
  EXPECT_EQ(kvc_wait(reader.space, &key, 1, 60'000 * kMs, &state, &ready), KVC_OK);
  EXPECT_EQ(state, KVC_READY);
  EXPECT_EQ(ready, 1U);
  commits.join();
}

TEST(ClientWait, TellsThatTheWriterGaveUp) {
  FakeDaemon daemon;
  const TestClient reader(daemon.path());
  const kvc_key key = key_of(0);
  std::uint8_t state = 9;
  std::size_t ready = 0;
  {
    const TestClient writer(daemon.path());
    std::vector<kvc_slot> slots = writer.reserve(keys_from(0, 1));
    EXPECT_EQ(kvc_wait(reader.space, &key, 1, 20 * kMs, &state, &ready), KVC_DEADLINE);
    EXPECT_EQ(state, KVC_STATE_PENDING);
    EXPECT_EQ(kvc_abort(writer.space, slots.data(), 1, 0, 0), KVC_OK);
  }
  EXPECT_EQ(kvc_wait(reader.space, &key, 1, 60'000 * kMs, &state, &ready), KVC_OK);
  EXPECT_EQ(state, KVC_MISSING);
  EXPECT_EQ(ready, 0U);
}

TEST(ClientWait, WithNothingPendingAsksNobody) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  client.put(keys_from(0, 2));
  const std::uint64_t before = client.stats().requests;
  std::size_t ready = 0;
  const auto keys = keys_from(0, 3);
  EXPECT_EQ(kvc_wait(client.space, keys.data(), 3, 0, nullptr, &ready), KVC_OK);
  EXPECT_EQ(ready, 2U);
  EXPECT_EQ(client.stats().requests, before);
}

// A reader that knows the directory and not yet the slab.
class WaitForASlab : public ::testing::Test {
 protected:
  WaitForASlab() {
    writer_.put(keys_);
    daemon_.change({.announces_slabs_late = true});
  }

  FakeDaemon daemon_;
  const TestClient writer_{daemon_.path()};
  const std::vector<kvc_key> keys_ = keys_from(0, 3);
};

TEST_F(WaitForASlab, EndsAtTheDeadlineAndSaysWhatIsReady) {
  const TestClient reader(daemon_.path());
  EXPECT_EQ(reader.ready(keys_), 3U);
  EXPECT_EQ(reader.acquire(keys_), 0U);
  std::size_t ready = 0;
  EXPECT_EQ(wait_for(reader, keys_, 20 * kMs, ready), KVC_DEADLINE);
  EXPECT_EQ(ready, 3U);
  EXPECT_EQ(reader.stats().requests, 0U);
}

TEST_F(WaitForASlab, EndsWithBlocksThatCanBeAcquired) {
  const TestClient reader(daemon_.path());
  std::size_t ready = 0;
  std::thread waits([&] { EXPECT_EQ(wait_for(reader, keys_, 60'000 * kMs, ready), KVC_OK); });
  daemon_.announce_slabs();
  waits.join();
  EXPECT_EQ(ready, 3U);
  EXPECT_EQ(reader.acquire(keys_), 3U);
}

TEST_F(WaitForASlab, EndsWithAPendingBlockThatCanBeAcquired) {
  const TestClient reader(daemon_.path());
  const std::vector<kvc_key> pending = keys_from(7, 1);
  std::vector<kvc_slot> slots = writer_.reserve(pending);
  std::thread commits([&] {
    wait_until([&] { return reader.stats().requests > 0; });
    EXPECT_EQ(kvc_commit(writer_.space, slots.data(), 1, KVC_WAIT, 0), KVC_OK);
    daemon_.announce_slabs();
  });
  std::size_t ready = 0;
  EXPECT_EQ(wait_for(reader, pending, 60'000 * kMs, ready), KVC_OK);
  EXPECT_EQ(reader.acquire(pending), 1U);
  commits.join();
}

// Otherwise a hang: the deadline is beyond the watchdog. KVC_OK if the daemon went before it was waited for.
TEST_F(WaitForASlab, EndsWithTheSession) {
  const TestClient reader(daemon_.path());
  std::size_t ready = 0;
  std::thread waits([&] { EXPECT_NE(wait_for(reader, keys_, 86'400'000 * kMs, ready), KVC_DEADLINE); });
  wait_until([&] { return reader.stats().match_calls > 0; });
  daemon_.stop(false);
  waits.join();
  EXPECT_EQ(reader.ready(keys_), 0U);
}

}  // namespace
}  // namespace kvtier::test
