// kvclient/client.hpp.

#include "kvclient/client.hpp"
#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

kvclient::Client connect(const FakeDaemon& daemon) {
  kvc_client_options options{};
  options.socket_path = daemon.path().c_str();
  options.flags = KVC_REQUIRE;
  return kvclient::Client(options);
}

kvclient::Spec small_spec() {
  kvclient::Spec spec({.model = "m", .revision = "r", .tokenizer = "t", .block_tokens = 4});
  spec.add_part({.name = "kv", .bytes = 64, .layer_count = 1, .dtype = "f16", .layout = "flat"});
  spec.set_rope("theta", "10000").set_extra("engine", "test");
  return spec;
}

TEST(ClientRaii, WriteAndRead) {
  FakeDaemon daemon;
  const kvclient::Client client = connect(daemon);
  const kvclient::Space space = client.space(small_spec());
  const std::vector<std::uint32_t> tokens{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto keys = space.keys(tokens, "salt");
  ASSERT_EQ(keys.size(), 2U);
  kvclient::Reservation room = space.reserve(keys);
  ASSERT_TRUE(room.is_new(1));
  room.buffer(0)[0] = std::byte{5};
  EXPECT_EQ(room.commit(KVC_WAIT), KVC_OK);
  kvclient::Lease lease = client.lease(8);
  EXPECT_EQ(space.acquire(keys, lease), 2U);
  EXPECT_EQ(lease[0].size(), 64U);
  EXPECT_EQ(lease[0][0], std::byte{5});
  lease.release();
  EXPECT_EQ(space.match(keys).ready, 2U);
  EXPECT_EQ(space.pin(keys, kMs), 2U);
  EXPECT_EQ(space.invalidate(), 2U);
  EXPECT_EQ(space.ready(keys), 0U);
}

TEST(ClientRaii, CopyNeedsEqualSizes) {
  const std::vector<std::byte> source(100'000, std::byte{7});
  std::vector<std::byte> target(source.size());
  kvclient::copy(target, source);
  EXPECT_EQ(target, source);
  EXPECT_THROW(kvclient::copy(std::span(target).first(10), source), std::invalid_argument);
}

TEST(ClientRaii, AnUnfinishedReservationIsAborted) {
  FakeDaemon daemon;
  const kvclient::Client client = connect(daemon);
  const kvclient::Space space = client.space(small_spec());
  {
    kvclient::Reservation first = space.reserve(keys_from(0, 3));
    kvclient::Reservation moved = std::move(first);
    EXPECT_EQ(daemon.writing_count(), 3U);
    EXPECT_EQ(moved.commit_one(0, KVC_WAIT), KVC_OK);
  }
  wait_until([&] { return daemon.writing_count() == 0; });
  EXPECT_EQ(space.ready(keys_from(0, 3)), 1U);
}

TEST(ClientRaii, MistakesAreThrownAndMissesAreNot) {
  FakeDaemon daemon;
  const kvclient::Client client = connect(daemon);
  kvclient::Spec wrong({.model = "m", .revision = "r", .tokenizer = "t", .block_tokens = 4});
  EXPECT_THROW((void)client.space(wrong), kvclient::Error);
  const kvclient::Space space = client.space(small_spec());
  daemon.stop(false);
  wait_until([&] { return !client.is_connected(); });
  EXPECT_EQ(space.ready(keys_from(0, 3)), 0U);
  EXPECT_EQ(space.reserve(keys_from(0, 3)).code(2), KVC_UNAVAILABLE);
  EXPECT_THROW(client.ping(), kvclient::Error);
}

}  // namespace
}  // namespace kvtier::test
