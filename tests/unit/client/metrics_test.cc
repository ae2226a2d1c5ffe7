// U-09: what is counted is what happened, once, with its denominator, on both sides.

#include "tests/unit/client/client_fixture.h"
#include "tests/unit/client/real_daemon.h"

namespace kvtier::test {
namespace {

// 62 blocks of a prompt of 1,000 tokens: the engine has the first 37 itself and asks for the other 25, of
// which 12 are here.
constexpr std::size_t kAsked = 25;
constexpr std::size_t kStored = 12;

void expect_only_risen(const kvc_client_stats& before, const kvc_client_stats& now) {
  EXPECT_GE(now.match_calls, before.match_calls);
  EXPECT_GE(now.match_keys, before.match_keys);
  EXPECT_GE(now.match_ready, before.match_ready);
  EXPECT_GE(now.acquire_calls, before.acquire_calls);
  EXPECT_GE(now.acquire_keys, before.acquire_keys);
  EXPECT_GE(now.acquire_leased, before.acquire_leased);
  EXPECT_GE(now.acquire_unverified, before.acquire_unverified);
  EXPECT_GE(now.acquire_corrupt, before.acquire_corrupt);
  EXPECT_GE(now.reserve_keys, before.reserve_keys);
  EXPECT_GE(now.reserve_new, before.reserve_new);
  EXPECT_GE(now.commit_blocks, before.commit_blocks);
  EXPECT_GE(now.abort_blocks, before.abort_blocks);
  EXPECT_GE(now.requests, before.requests);
  EXPECT_GE(now.requests_late, before.requests_late);
  EXPECT_GE(now.unavailable, before.unavailable);
  EXPECT_GE(now.deadline_exceeded, before.deadline_exceeded);
}

TEST(ClientMetrics, U09_AScriptedRunHasTheKnownAnswer) {
  RealDaemon daemon;
  const TestClient writer(daemon.path());
  const TestClient engine(daemon.path());
  writer.put(keys_from(37, kStored));
  const auto asked = keys_from(37, kAsked);
  EXPECT_EQ(engine.ready(asked), kStored);
  // A block is in the directory before its slab is mapped here, and a miss until then.
  wait_until([&] { return engine.status().slabs_count == writer.status().slabs_count; });
  ASSERT_EQ(engine.acquire(asked), kStored);
  kvc_client_stats stats = engine.stats();
  EXPECT_EQ(stats.match_calls, 1U);
  EXPECT_EQ(stats.match_keys, kAsked);
  EXPECT_EQ(stats.match_ready, kStored);
  EXPECT_EQ(stats.acquire_keys, kAsked);
  EXPECT_EQ(stats.acquire_leased, kStored);
  EXPECT_EQ(stats.leases_open, 1U);
  kvc_release(engine.lease);
  EXPECT_EQ(engine.acquire(keys_from(1000, 5)), 0U);
  stats = engine.stats();
  EXPECT_EQ(stats.acquire_keys, kAsked + 5);
  EXPECT_EQ(stats.acquire_leased, kStored) << "a miss is asked for, and no hit";
  EXPECT_EQ(stats.leases_open, 0U);
  // A match is no hit, and an acquire is one a block: the daemon counts the same.
  wait_until([&] { return daemon.hits_count() >= kStored; });
  EXPECT_EQ(daemon.hits_count(), kStored);
  EXPECT_EQ(writer.stats().reserve_new, kStored);
  EXPECT_EQ(writer.stats().commit_blocks, kStored);
}

TEST(ClientMetrics, U09_CountersOnlyRiseAlsoOverReconnects) {
  RealDaemon daemon;
  const TestClient client(daemon.path());
  client.put(keys_from(0, 4));
  EXPECT_EQ(client.acquire(keys_from(0, 8)), 4U);
  kvc_release(client.lease);
  kvc_client_stats before = client.stats();
  for (int round = 0; round < 3; ++round) {
    daemon.stop();
    wait_until([&] { return !client.is_connected(); });
    EXPECT_EQ(client.ready(keys_from(0, 8)), 0U);
    kvc_client_stats now = client.stats();
    expect_only_risen(before, now);
    EXPECT_EQ(now.match_ready, before.match_ready) << "nothing is a hit while nobody is there";
    EXPECT_GT(now.unavailable, before.unavailable);
    daemon.start();
    wait_until([&] { return client.is_usable(); });
    client.put(keys_from(100 * (round + 1), 4));
    before = now;
    now = client.stats();
    expect_only_risen(before, now);
    EXPECT_EQ(now.commit_blocks, 4U * (round + 2));
    before = now;
  }
}

}  // namespace
}  // namespace kvtier::test
