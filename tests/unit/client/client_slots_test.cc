// Sequences over the client library: what they reserve, publish and lease, and what the daemon's going away leaves.

#include "kvclient/client_slots.hpp"

#include "tests/unit/client/client_fixture.h"
#include "tests/unit/client/real_daemon.h"
#include "tests/unit/paging/engine.h"

namespace kvtier::test {
namespace {

constexpr std::size_t kBlock = 16;

/// A process of an engine: a client, and slots over it.
struct Engine {
  explicit Engine(const std::string& path, kvclient::ClientSlots::Options options = {})
      : client(path), slots(client.client, client.space, std::move(options)) {}

  void write(Sequence& sequence, const Tokens& tokens) {
    ASSERT_TRUE(compute(sequence, tokens, kBlock));
    ASSERT_EQ(sequence.commit(tokens.size()).code, KVC_OK) << kvc_last_error();
  }
  void start(Sequence& sequence, const Tokens& tokens) {
    ASSERT_EQ(sequence.allocate(tokens).code, KVC_OK) << kvc_last_error();
    write(sequence, tokens);
  }
  void decode(Sequence& sequence, Tokens& tokens, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      tokens.push_back(static_cast<std::uint32_t>(tokens.size()));
      ASSERT_EQ(sequence.append(tokens.back()).code, KVC_OK);
      write(sequence, tokens);
    }
  }

  TestClient client;
  kvclient::ClientSlots slots;
};

void expect_right(const Sequence& sequence, const Tokens& tokens) {
  EXPECT_EQ(sequence.written_count(), tokens.size());
  EXPECT_EQ(first_wrong(sequence, tokens, kBlock), tokens.size());
}

TEST(ClientSlots, APromptIsPendingForOthersAndWrittenWhereItStays) {
  FakeDaemon daemon;
  Engine engine(daemon.path());
  Engine other(daemon.path());
  const Tokens prompt = tokens_from(0, 40);
  Sequence sequence(engine.slots);
  ASSERT_EQ(sequence.allocate(prompt).code, KVC_OK);
  EXPECT_EQ(daemon.writing_count(), 3U);
  const std::vector<kvc_key> keys = other.slots.keys(prompt, nullptr);
  EXPECT_EQ(other.client.reserve(keys)[1].code, KVC_PENDING);
  const std::byte* block = sequence.writable(1).data();
  engine.write(sequence, prompt);
  EXPECT_EQ(sequence.readable(1).data(), block);
  EXPECT_EQ(other.client.ready(keys), 2U);
  Sequence same(other.slots);
  ASSERT_EQ(same.allocate(prompt).code, KVC_OK);
  EXPECT_EQ(same.written_count(), 32U);
  other.write(same, prompt);
  expect_right(same, prompt);
  EXPECT_EQ(daemon.pinned_count(), 4U);
  sequence.free();
  same.free();
  EXPECT_EQ(daemon.pinned_count(), 0U);
  wait_until([&] { return daemon.writing_count() == 0; });
  EXPECT_EQ(engine.client.stats().leases_open, 0U);
  EXPECT_EQ(engine.client.stats().reservations_open, 0U);
}

TEST(ClientSlots, WhatIsDecodedIsFoundUnderItsKeys) {
  FakeDaemon daemon;
  Engine engine(daemon.path());
  Engine other(daemon.path());
  Tokens tokens = tokens_from(0, 5);
  Sequence sequence(engine.slots);
  engine.start(sequence, tokens);
  engine.decode(sequence, tokens, 70);
  expect_right(sequence, tokens);
  EXPECT_EQ(other.client.ready(other.slots.keys(tokens, nullptr)), 4U);
  Sequence next(other.slots);
  ASSERT_EQ(next.allocate(tokens).code, KVC_OK);
  EXPECT_EQ(next.written_count(), 64U);
  other.write(next, tokens);
  expect_right(next, tokens);
  EXPECT_EQ(engine.client.stats().reservations_open, 1U) << "the block that is not full";
}

TEST(ClientSlots, TwoThatDecodeTheSameHaveOneBlockInTheEnd) {
  FakeDaemon daemon;
  Engine one(daemon.path());
  Engine two(daemon.path());
  Tokens tokens = tokens_from(0, 10);
  Tokens same = tokens;
  Sequence first(one.slots);
  Sequence second(two.slots);
  one.start(first, tokens);
  two.start(second, same);
  one.decode(first, tokens, 30);
  two.decode(second, same, 30);
  expect_right(first, tokens);
  expect_right(second, same);
  EXPECT_EQ(std::memcmp(first.readable(1).data(), second.readable(1).data(), 4096), 0);
  EXPECT_EQ(daemon.pinned_count(), 4U);
  wait_until([&] { return daemon.writing_count() == 2; });  // the two last blocks, which are not full
}

TEST(ClientSlots, ABlockThatAnotherComputesIsPrivateUntilThatOneIsDone) {
  FakeDaemon daemon;
  Engine engine(daemon.path());
  Engine other(daemon.path());
  const Tokens prompt = tokens_from(0, 33);
  const std::vector<kvc_key> keys = other.slots.keys(prompt, nullptr);
  std::vector<kvc_slot> claimed = other.client.reserve({keys[0]});
  Sequence sequence(engine.slots);
  ASSERT_EQ(sequence.allocate(prompt).code, KVC_OK);
  ASSERT_TRUE(compute(sequence, prompt, kBlock));
  EXPECT_EQ(sequence.commit(33).code, KVC_PENDING);
  expect_right(sequence, prompt);
  EXPECT_EQ(other.client.ready(keys), 0U);
  std::memcpy(claimed[0].data, sequence.readable(0).data(), 4096);
  ASSERT_EQ(kvc_commit(other.client.space, claimed.data(), 1, KVC_WAIT, 0), KVC_OK);
  EXPECT_EQ(sequence.commit(33).code, KVC_OK);
  expect_right(sequence, prompt);
  EXPECT_EQ(other.client.ready(keys), 2U);
  EXPECT_EQ(daemon.pinned_count(), 2U);
}

TEST(ClientSlots, L07_NoRoomSaysWhoHasItAndTakesNothing) {
  FakeDaemon daemon;
  daemon.with_store([](FakeStore& store) {
    store.slots_limit = 3;
    store.usable_slabs = 1;
    store.no_space_cause = Cause::kPinnedBy;
  });
  Engine engine(daemon.path());
  Sequence first(engine.slots);
  engine.start(first, tokens_from(0, 20));
  Sequence second(engine.slots);
  const auto refused = second.allocate(tokens_from(100, 20));
  EXPECT_EQ(refused.code, KVC_NO_SPACE);
  EXPECT_EQ(refused.cause, KVC_CAUSE_PINNED_BY);
  EXPECT_EQ(refused.detail, 4711U);
  EXPECT_EQ(daemon.writing_count(), 1U);
  EXPECT_EQ(second.allocate(tokens_from(100, 16)).code, KVC_OK);
}

// No slot is left for a copy under the key: the block stays what it was, and is public once there is one.
TEST(ClientSlots, AFullBlockWithoutRoomForItsKeyStaysPrivate) {
  FakeDaemon daemon;
  daemon.with_store([](FakeStore& store) {
    store.slots_limit = 2;
    store.usable_slabs = 1;
  });
  Engine engine(daemon.path());
  Sequence in_the_way(engine.slots);
  engine.start(in_the_way, tokens_from(100, 3));
  Tokens tokens = tokens_from(0, 15);
  Sequence sequence(engine.slots);
  engine.start(sequence, tokens);
  tokens.push_back(15);
  ASSERT_EQ(sequence.append(15).code, KVC_OK);
  ASSERT_TRUE(compute(sequence, tokens, kBlock));
  EXPECT_EQ(sequence.commit(16).code, KVC_NO_SPACE);
  expect_right(sequence, tokens);
  in_the_way.free();
  wait_until([&] { return daemon.writing_count() == 1; });
  EXPECT_EQ(sequence.commit(16).code, KVC_OK);
  expect_right(sequence, tokens);
  wait_until([&] { return daemon.writing_count() == 0; });
}

TEST(ClientSlots, SwapInRestoresWhatIsOnDiskOnly) {
  FakeDaemon daemon;
  Engine engine(daemon.path(), {.restore_ns = 60'000 * kMs});
  const Tokens tokens = tokens_from(0, 40);
  Sequence sequence(engine.slots);
  engine.start(sequence, tokens);
  ASSERT_EQ(sequence.swap_out().code, KVC_OK);
  EXPECT_EQ(daemon.pinned_count(), 0U);
  const std::vector<kvc_key> keys = engine.slots.keys(tokens, nullptr);
  Key second{};
  std::memcpy(&second, &keys[1], sizeof second);
  daemon.with_store([&](FakeStore& store) { store.cool(SpaceId{1}, second); });
  EXPECT_EQ(engine.client.ready(keys), 1U);
  ASSERT_EQ(sequence.swap_in().code, KVC_OK) << kvc_last_error();
  expect_right(sequence, tokens);
  ASSERT_EQ(sequence.swap_out().code, KVC_OK);
  EXPECT_TRUE(daemon.evict(second));
  std::vector<std::size_t> missing;
  EXPECT_EQ(sequence.swap_in(&missing).code, KVC_NOT_FOUND);
  EXPECT_EQ(missing, (std::vector<std::size_t>{1}));
  EXPECT_EQ(daemon.pinned_count(), 0U);
  ASSERT_EQ(sequence.recompute().code, KVC_OK);
  EXPECT_EQ(sequence.written_count(), 16U);
  engine.write(sequence, tokens);
  expect_right(sequence, tokens);
}

TEST(ClientSlots, AllocateRestoresThePrefixAndNothingBehindAHole) {
  FakeDaemon daemon;
  Engine engine(daemon.path(), {.restore_ns = 60'000 * kMs});
  const Tokens tokens = tokens_from(0, 70);
  const std::vector<kvc_key> keys = engine.slots.keys(tokens, nullptr);
  std::vector<Key> names(keys.size());
  std::memcpy(names.data(), keys.data(), keys.size() * sizeof(Key));
  {
    Sequence sequence(engine.slots);
    engine.start(sequence, tokens);
  }
  for (const std::size_t i : {1, 3})
    daemon.with_store([&](FakeStore& store) { store.cool(SpaceId{1}, names[i]); });
  EXPECT_TRUE(daemon.evict(names[2]));
  Sequence sequence(engine.slots);
  ASSERT_EQ(sequence.allocate(tokens).code, KVC_OK);
  EXPECT_EQ(sequence.written_count(), 32U);
  std::vector<std::uint8_t> states(4);
  std::size_t ready = 0;
  ASSERT_EQ(kvc_match(engine.client.space, keys.data(), 4, states.data(), &ready), KVC_OK);
  EXPECT_EQ(ready, 2U);
  EXPECT_EQ(states[3], KVC_STATE_ON_DISK) << "nobody reads it";
  ASSERT_TRUE(compute(sequence, tokens, kBlock));
  EXPECT_EQ(sequence.commit(70).code, KVC_OK);
  expect_right(sequence, tokens);
}

TEST(ClientSlots, ADaemonThatIsAwayTakesNothingFromASequence) {
  RealDaemon daemon;
  Engine engine(daemon.path());
  Tokens tokens = tokens_from(0, 30);
  Sequence sequence(engine.slots);
  engine.start(sequence, tokens);
  daemon.stop();
  wait_until([&] { return !engine.client.is_connected(); });
  ASSERT_EQ(sequence.extend(tokens_from(30, 2)).code, KVC_OK) << "there is room in the last block";
  tokens = tokens_from(0, 32);
  ASSERT_TRUE(compute(sequence, tokens, kBlock));
  EXPECT_EQ(sequence.commit(32).code, KVC_UNAVAILABLE);
  expect_right(sequence, tokens);
  EXPECT_EQ(sequence.append(32).code, KVC_UNAVAILABLE);
  Sequence other(engine.slots);
  EXPECT_EQ(other.allocate(tokens).code, KVC_UNAVAILABLE);
  daemon.start();
  wait_until([&] { return engine.client.is_usable(); });
  EXPECT_EQ(sequence.commit(32).code, KVC_OK) << kvc_last_error();
  engine.decode(sequence, tokens, 20);
  expect_right(sequence, tokens);
}

// Slots that were reserved under their keys are lost with the daemon; who had them computes again.
TEST(ClientSlots, APromptThatWasBeingWrittenIsComputedAgainAfterARestart) {
  FakeDaemon daemon;
  Engine engine(daemon.path());
  const Tokens tokens = tokens_from(0, 40);
  Sequence sequence(engine.slots);
  ASSERT_EQ(sequence.allocate(tokens).code, KVC_OK);
  ASSERT_TRUE(compute(sequence, tokens, kBlock));
  daemon.stop(false);
  daemon.start();
  wait_until([&] { return engine.client.status().sessions_count == 2 && engine.client.is_usable(); });
  EXPECT_EQ(sequence.commit(40).code, KVC_STALE);
  EXPECT_EQ(sequence.written_count(), 0U);
  EXPECT_TRUE(sequence.readable(0).empty());
  ASSERT_EQ(sequence.recompute().code, KVC_OK);
  engine.write(sequence, tokens);
  expect_right(sequence, tokens);
  EXPECT_EQ(engine.client.ready(engine.slots.keys(tokens, nullptr)), 2U);
}

TEST(ClientSlots, ASaltSeparates) {
  FakeDaemon daemon;
  Engine plain(daemon.path());
  Engine salted(daemon.path(), {.salt = "tenant"});
  const Tokens tokens = tokens_from(0, 40);
  Sequence first(plain.slots);
  plain.start(first, tokens);
  Sequence second(salted.slots);
  ASSERT_EQ(second.allocate(tokens).code, KVC_OK);
  EXPECT_EQ(second.written_count(), 0U);
  Sequence third(salted.slots);
  salted.write(second, tokens);
  ASSERT_EQ(third.allocate(tokens).code, KVC_OK);
  EXPECT_EQ(third.written_count(), 32U);
}

// A prompt of more blocks than a call of the contract reserves all or nothing.
TEST(ClientSlots, ALongPromptIsAllOrNothingToo) {
  FakeDaemon daemon;
  Engine engine(daemon.path());
  Sequence sequence(engine.slots);
  EXPECT_EQ(sequence.allocate(tokens_from(0, 16 * 5000)).code, KVC_NO_SPACE);
  wait_until([&] { return daemon.writing_count() == 0; });
  EXPECT_EQ(engine.client.stats().reservations_open, 0U);
}

// The pool is full of what sequences hold: the block that was committed last is the only one that could leave.
TEST(ClientSlots, ARunningSequenceLosesNoBlockToAnotherInAFullPool) {
  RealDaemon daemon;
  Engine engine(daemon.path());
  std::vector<Sequence> running;
  std::vector<Tokens> texts;
  for (std::uint32_t n = 0;; ++n) {
    Sequence next(engine.slots);
    Tokens tokens = tokens_from(n * 1000, 250);
    if (!next.allocate(tokens).is_ok()) break;
    engine.write(next, tokens);
    running.push_back(std::move(next));
    texts.push_back(std::move(tokens));
  }
  ASSERT_GT(running.size(), 4U);
  running.pop_back();
  texts.pop_back();
  // They take turns at the last slots until nobody gets any.
  for (bool has_room = true; has_room;) {
    has_room = false;
    for (std::size_t i = 0; i < running.size(); ++i) {
      if (!running[i].append(7).is_ok()) continue;
      has_room = true;
      texts[i].push_back(7);
      ASSERT_TRUE(compute(running[i], texts[i], kBlock));
      (void)running[i].commit(texts[i].size());
    }
  }
  for (std::size_t i = 0; i < running.size(); ++i) expect_right(running[i], texts[i]);
}

}  // namespace
}  // namespace kvtier::test
