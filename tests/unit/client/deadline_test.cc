// What becomes of requests that are answered late, never, or by a hang-up.

#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

TEST(ClientDeadline, AnUnansweredRequestEndsAtItsDeadline) {
  FakeDaemon daemon({.unanswered = {Op::kEcho}});
  const TestClient client(daemon.path());
  EXPECT_EQ(kvc_ping(client.client, 5 * kMs), KVC_DEADLINE);
  EXPECT_EQ(client.stats().requests_late, 1U);
  EXPECT_EQ(client.stats().deadline_exceeded, 1U);
  daemon.change({});
  daemon.answer_now();
  EXPECT_EQ(kvc_ping(client.client, 0), KVC_OK);
}

TEST(ClientDeadline, L05_GrantsOfALateReserveAreAborted) {
  FakeDaemon daemon({.unanswered = {Op::kReserve}});
  const TestClient client(daemon.path());
  const auto keys = keys_from(0, 6);
  std::vector<kvc_slot> slots(6);
  kvc_reserve_options options{};
  options.struct_size = sizeof options;
  options.deadline_ns = 5 * kMs;
  EXPECT_EQ(kvc_reserve(client.space, keys.data(), 6, &options, slots.data()), KVC_DEADLINE);
  daemon.change({});
  daemon.answer_now();
  // Nobody waits: the service thread takes the answer in and gives the room back.
  wait_until([&] { return daemon.writing_count() == 0; });
  EXPECT_EQ(client.reserve(keys_from(0, 6))[5].code, KVC_OK);
}

TEST(ClientDeadline, ALateArenaRangeIsNotGivenAway) {
  FakeDaemon daemon({.unanswered = {Op::kReserve}});
  const TestClient client(daemon.path());
  const auto keys = keys_from(0, 4096);
  std::vector<kvc_slot> slots(4096);
  kvc_reserve_options options{};
  options.struct_size = sizeof options;
  options.deadline_ns = 5 * kMs;
  // 228 KiB each, 1 MiB in all: the fifth finds no room in the arena before its deadline.
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(kvc_reserve(client.space, keys.data(), keys.size(), &options, slots.data()), KVC_DEADLINE);
  }
  EXPECT_EQ(client.stats().requests_late, 4U);
  EXPECT_EQ(kvc_ping(client.client, 0), KVC_OK);
  daemon.change({});
  daemon.answer_now();
  wait_until([&] { return daemon.writing_count() == 0; });
  EXPECT_EQ(client.reserve(keys_from(0, 3))[2].code, KVC_OK);
}

TEST(ClientDeadline, MoreRequestsThanTheTableHolds) {
  FakeDaemon daemon({.unanswered = {Op::kEcho}});
  const TestClient client(daemon.path());
  for (std::uint32_t i = 0; i < kCompletionEntries + 8; ++i) {
    ASSERT_EQ(kvc_ping(client.client, 1), KVC_DEADLINE);
  }
  EXPECT_EQ(client.stats().requests_late, kCompletionEntries - 1);
  daemon.change({});
  daemon.answer_now();
  EXPECT_EQ(kvc_ping(client.client, 0), KVC_OK);
}

// What a signal handler of an interpreter wants: the wait ends, and the next call of the same scope does not begin one.
TEST(ClientDeadline, AnInterruptEndsEveryKindOfWait) {
  FakeDaemon daemon({.announces_slabs_late = true, .unanswered = {Op::kEcho}});
  const TestClient client(daemon.path());
  int asked = 0;
  const auto on_the_second = [](void* count) { return ++*static_cast<int*>(count) == 2 ? 1 : 0; };
  kvc_set_interrupt(on_the_second, &asked);
  EXPECT_EQ(kvc_ping(client.client, 3600'000 * kMs), KVC_DEADLINE) << "an answer";
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(kvc_ping(client.client, 3600'000 * kMs), KVC_DEADLINE);
  EXPECT_EQ(asked, 2) << "it has fired";
  kvc_set_interrupt(on_the_second, &(asked = 0));
  kvc_slot slot{};
  const kvc_key key = key_of(0);
  kvc_reserve_options options{sizeof options, nullptr, 3600'000 * kMs, 0, 0};
  EXPECT_EQ(kvc_reserve(client.space, &key, 1, &options, &slot), KVC_OK);
  EXPECT_EQ(slot.code, KVC_DEADLINE) << "a slab's announcement";
  kvc_set_interrupt(nullptr, nullptr);
  daemon.change({});
  wait_until([&] { return daemon.writing_count() == 0; });
  EXPECT_EQ(kvc_ping(client.client, 0), KVC_OK);
}

TEST(ClientDeadline, AHangUpEndsEveryWait) {
  FakeDaemon daemon({.unanswered = {Op::kEcho}});
  const TestClient client(daemon.path());
  std::vector<std::thread> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.emplace_back([&] { EXPECT_EQ(kvc_ping(client.client, 3600'000 * kMs), KVC_UNAVAILABLE); });
  }
  wait_until([&] { return client.stats().requests == 4; });
  daemon.change({});
  daemon.hang_up_all();
  for (std::thread& thread : waiting) thread.join();
  wait_until([&] { return client.is_usable(); });
  EXPECT_EQ(kvc_ping(client.client, 0), KVC_OK);
}

TEST(ClientDeadline, AHangUpInTheMiddleOfAReserve) {
  FakeDaemon daemon({.hangs_up_on = {Op::kReserve}});
  const TestClient client(daemon.path());
  const kvc_key key = key_of(0);
  kvc_slot slot{};
  EXPECT_EQ(kvc_reserve(client.space, &key, 1, nullptr, &slot), KVC_UNAVAILABLE);
  EXPECT_EQ(slot.code, KVC_UNAVAILABLE);
  daemon.change({});
  wait_until([&] { return client.is_usable(); });
  EXPECT_EQ(client.reserve(keys_from(0, 1))[0].code, KVC_OK);
}

TEST(ClientDeadline, ClosingEndsEveryWait) {
  FakeDaemon daemon({.unanswered = {Op::kEcho}});
  kvc_client* client = nullptr;
  ASSERT_EQ(open_client(daemon.path(), &client), KVC_OK);
  kvc_spec* spec = make_spec();
  kvc_space* space = nullptr;
  ASSERT_EQ(kvc_space_register(client, spec, 0, &space), KVC_OK);
  kvc_spec_destroy(spec);
  daemon.change({.unanswered = {Op::kPin}});
  const kvc_key key = key_of(0);
  std::thread waits([&] { EXPECT_EQ(kvc_pin(space, &key, 1, 1, 3600'000 * kMs, nullptr), KVC_STALE); });
  kvc_client_stats stats{};
  stats.struct_size = sizeof stats;
  wait_until([&] { return kvc_stats(client, &stats) == KVC_OK && stats.requests == 1; });
  kvc_client_close(client);
  waits.join();
  kvc_space_close(space);
}

}  // namespace
}  // namespace kvtier::test
