// reserve, commit, abort, pin, invalidate.

#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

int reserve_with(const TestClient& client, const std::vector<kvc_key>& keys, std::uint32_t flags,
                 std::vector<kvc_slot>& slots) {
  slots.assign(keys.size(), kvc_slot{});
  kvc_reserve_options options{};
  options.struct_size = sizeof options;
  options.flags = flags;
  return kvc_reserve(client.space, keys.data(), keys.size(), &options, slots.data());
}

TEST(ClientWrite, EachKeyHasItsAnswer) {
  FakeDaemon daemon;
  const TestClient first(daemon.path());
  const TestClient second(daemon.path());
  first.put(keys_from(0, 1));
  std::vector<kvc_slot> open = first.reserve(keys_from(1, 1));
  const std::vector<kvc_slot> slots = second.reserve(keys_from(0, 3));
  EXPECT_EQ(slots[0].code, KVC_EXISTS);
  EXPECT_EQ(slots[0].data, nullptr);
  EXPECT_EQ(slots[1].code, KVC_PENDING);
  EXPECT_EQ(slots[2].code, KVC_OK);
  EXPECT_NE(slots[2].data, nullptr);
  EXPECT_EQ(kvc_commit(first.space, open.data(), 1, KVC_WAIT, 0), KVC_OK);
  EXPECT_EQ(second.stats().reservations_open, 1U);
}

TEST(ClientWrite, ACommitWithoutWaitingBecomesVisible) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots = client.reserve(keys_from(0, 9));
  for (const kvc_slot& slot : slots) std::memset(slot.data, 3, 4096);
  EXPECT_EQ(kvc_commit(client.space, slots.data(), slots.size(), 0, 0), KVC_OK);
  for (const kvc_slot& slot : slots) EXPECT_EQ(slot.data, nullptr);
  wait_until([&] { return client.ready(keys_from(0, 9)) == 9; });
  EXPECT_EQ(client.stats().commit_blocks, 9U);
  EXPECT_EQ(client.stats().reservations_open, 0U);
  // A second commit of the same slots has nothing to do.
  EXPECT_EQ(kvc_commit(client.space, slots.data(), slots.size(), KVC_WAIT, 0), KVC_OK);
}

TEST(ClientWrite, ACopiedSlotIsNotCommittedTwice) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots = client.reserve(keys_from(0, 1));
  std::vector<kvc_slot> copy = slots;
  EXPECT_EQ(kvc_commit(client.space, slots.data(), 1, KVC_WAIT, 0), KVC_OK);
  EXPECT_NE(kvc_commit(client.space, copy.data(), 1, KVC_WAIT, 0), KVC_OK);
  EXPECT_EQ(client.stats().reservations_open, 0U);
}

// Sessions of two clients are both the first of theirs; ended by the wrong one, a slot would count as given back
// while its owner still writes there.
TEST(ClientWrite, SlotsOfAnotherClientAreRefusedAndStayAsTheyAre) {
  FakeDaemon daemon;
  const TestClient owner(daemon.path());
  const TestClient other(daemon.path());
  std::vector<kvc_slot> slots = owner.reserve(keys_from(0, 2));
  std::vector<kvc_slot> own = other.reserve(keys_from(10, 1));
  own.push_back(slots[0]);
  for (const auto end : {kvc_commit, kvc_abort}) {
    EXPECT_EQ(end(other.space, own.data(), 2, KVC_WAIT, 0), KVC_INVALID);
    EXPECT_NE(std::string(kvc_last_error()).find("slots[1] was reserved through another client"),
              std::string::npos);
    EXPECT_NE(own[0].data, nullptr) << "nothing was done";
    EXPECT_EQ(own[1].data, slots[0].data);
  }
  EXPECT_EQ(other.stats().reservations_open, 1U);
  EXPECT_EQ(owner.stats().reservations_open, 2U);
  EXPECT_EQ(kvc_commit(owner.space, slots.data(), 2, KVC_WAIT, 0), KVC_OK);
  EXPECT_EQ(kvc_commit(other.space, own.data(), 1, KVC_WAIT, 0), KVC_OK);
  EXPECT_EQ(owner.ready(keys_from(0, 2)), 2U);
}

TEST(ClientWrite, AnAwaitedCommitTellsEachSlotWhatBecameOfIt) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots = client.reserve(keys_from(0, 6));
  daemon.with_store([&](FakeStore& store) {
    for (const std::size_t lost : {1U, 4U}) {
      const kvc_slot& slot = slots[lost];
      EXPECT_EQ(store.abort({slot.private_hold[0], slot.private_hold[1]}, 1), Code::kOk);
    }
  });
  EXPECT_EQ(kvc_commit(client.space, slots.data(), slots.size(), KVC_WAIT, 0), KVC_INVALID);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    EXPECT_EQ(slots[i].code, i == 1 || i == 4 ? KVC_INVALID : KVC_OK) << i;
  }
  EXPECT_EQ(client.stats().commit_blocks, 4U);
}

TEST(ClientWrite, AbortGivesTheRoomBack) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots = client.reserve(keys_from(0, 6));
  EXPECT_EQ(daemon.writing_count(), 6U);
  EXPECT_EQ(kvc_abort(client.space, slots.data(), slots.size(), KVC_WAIT, 0), KVC_OK);
  EXPECT_EQ(daemon.writing_count(), 0U);
  EXPECT_EQ(client.reserve(keys_from(0, 1))[0].code, KVC_OK);
}

TEST(ClientWrite, L07_AllOrNothingTakesNothingWhenItIsShort) {
  FakeDaemon daemon;
  daemon.with_store([](FakeStore& store) {
    store.slots_limit = 2;
    store.usable_slabs = 1;
    store.no_space_cause = Cause::kPinnedBy;
  });
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots;
  EXPECT_EQ(reserve_with(client, keys_from(0, 3), KVC_ALL_OR_NOTHING, slots), KVC_NO_SPACE);
  for (const kvc_slot& slot : slots) {
    EXPECT_EQ(slot.code, KVC_NO_SPACE);
    EXPECT_EQ(slot.cause, KVC_CAUSE_PINNED_BY);
    EXPECT_EQ(slot.detail, 4711U);
  }
  EXPECT_EQ(daemon.writing_count(), 0U);
  EXPECT_EQ(reserve_with(client, keys_from(0, 3), 0, slots), KVC_OK);
  EXPECT_EQ(slots[1].code, KVC_OK);
  EXPECT_EQ(slots[2].code, KVC_NO_SPACE);
  EXPECT_EQ(kvc_abort(client.space, slots.data(), 3, KVC_WAIT, 0), KVC_OK);
}

TEST(ClientWrite, LongCallsAreSplitWhereTheyCanBe) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots;
  EXPECT_EQ(reserve_with(client, keys_from(0, 5000), KVC_ALL_OR_NOTHING, slots), KVC_INVALID);
  EXPECT_NE(std::string(kvc_last_error()).find("4096"), std::string::npos);
  EXPECT_EQ(slots[0].code, KVC_INVALID);
  EXPECT_EQ(reserve_with(client, keys_from(0, 5000), 0, slots), KVC_OK);
  EXPECT_EQ(slots[0].code, KVC_OK);
  EXPECT_EQ(slots[4999].code, KVC_NO_SPACE);  // 512 slots
  EXPECT_EQ(kvc_abort(client.space, slots.data(), slots.size(), KVC_WAIT, 0), KVC_OK);
  EXPECT_EQ(reserve_with(client, {}, 0, slots), KVC_OK);
  std::size_t pinned = 0;
  const auto many = keys_from(0, 65536);
  EXPECT_EQ(kvc_pin(client.space, many.data(), many.size(), 1000, 0, &pinned), KVC_OK);
  EXPECT_EQ(pinned, 65536U);
}

TEST(ClientWrite, DuplicatesInOneReserve) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots = client.reserve({key_of(1), key_of(1)});
  EXPECT_EQ(slots[0].code, KVC_OK);
  EXPECT_EQ(slots[1].code, KVC_PENDING);
  EXPECT_EQ(kvc_commit(client.space, slots.data(), 2, KVC_WAIT, 0), KVC_OK);
  EXPECT_EQ(client.ready(keys_from(1, 1)), 1U);
}

// The others would be granted: neither all nor nothing.
TEST(ClientWrite, AllOrNothingIsNothingForAKeyThatCannotBe) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  const std::vector<kvc_key> zero = {key_of(0), kvc_key{}, key_of(1), key_of(0)};
  const std::vector<kvc_key> twice = {key_of(0), key_of(1), key_of(2), key_of(1), key_of(0), kvc_key{}};
  for (const std::uint32_t way : {0, static_cast<int>(KVC_NO_CLAIM)}) {
    for (const auto& [keys, text] :
         {std::pair(zero, "keys[1] is all zero"), std::pair(twice, "keys[3] is there twice")}) {
      std::vector<kvc_slot> slots;
      EXPECT_EQ(reserve_with(client, keys, KVC_ALL_OR_NOTHING | way, slots), KVC_INVALID);
      EXPECT_NE(std::string(kvc_last_error()).find(text), std::string::npos) << kvc_last_error();
      for (const kvc_slot& slot : slots) {
        EXPECT_EQ(slot.code, KVC_INVALID);
        EXPECT_EQ(slot.data, nullptr);
      }
    }
  }
  EXPECT_EQ(daemon.writing_count(), 0U);
  std::vector<kvc_slot> none;
  EXPECT_EQ(reserve_with(client, {}, KVC_ALL_OR_NOTHING, none), KVC_OK);
}

// The daemon sees two requests, the caller made one call.
TEST(ClientWrite, TheSameKeyTwiceIsInvalidHoweverFarApart) {
  FakeDaemon daemon;
  daemon.with_store([](FakeStore& store) { store.usable_slabs = FakeStore::kSlabs; });
  const TestClient client(daemon.path());
  std::vector<kvc_key> keys = keys_from(0, kRequestKeysMax + 8);
  keys[kRequestKeysMax + 3] = keys[5];
  std::vector<kvc_slot> slots;
  EXPECT_EQ(reserve_with(client, keys, 0, slots), KVC_OK);
  ASSERT_EQ(slots[5].code, KVC_OK);
  EXPECT_EQ(slots[kRequestKeysMax + 3].code, KVC_INVALID);
  EXPECT_NE(std::string(kvc_last_error()).find("keys[4099] is there twice"), std::string::npos)
      << kvc_last_error();
  EXPECT_EQ(kvc_abort(client.space, slots.data(), slots.size(), KVC_WAIT, 0), KVC_OK);
}

TEST(ClientWrite, PinLimitsAndInvalidate) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  client.put(keys_from(0, 4));
  const auto keys = keys_from(0, 4);
  EXPECT_EQ(kvc_pin(client.space, keys.data(), 4, 0, 0, nullptr), KVC_INVALID);
  EXPECT_EQ(kvc_pin(client.space, keys.data(), 4, 25ULL * 3600 * 1000 * kMs, 0, nullptr), KVC_INVALID);
  EXPECT_EQ(kvc_pin(client.space, keys.data(), 4, 1000 * kMs, 0, nullptr), KVC_OK);
  EXPECT_EQ(kvc_unpin(client.space, keys.data(), 4, 0), KVC_OK);
  std::uint64_t blocks = 0;
  EXPECT_EQ(kvc_invalidate(client.space, 0, &blocks), KVC_OK);
  EXPECT_EQ(blocks, 4U);
  EXPECT_EQ(client.ready(keys), 0U);
  client.put(keys_from(0, 2));
  EXPECT_EQ(kvc_invalidate_namespace(client.client, 0, &blocks), KVC_OK);
  EXPECT_EQ(blocks, 2U);
}

// ---- slabs: lent, revoked, removed ----

TEST(ClientWrite, ARevokedSlabIsReadOnlyUntilItIsLentAgain) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  client.put(keys_from(0, 1), 0x21);
  daemon.revoke(0);
  wait_until([&] { return daemon.slab_acks().size() == 1; });
  EXPECT_EQ(daemon.slab_acks()[0].state, SlabState::kReleased);
  ASSERT_EQ(client.acquire(keys_from(0, 1)), 1U);
  EXPECT_EQ(client.first_byte(), 0x21);
  kvc_release(client.lease);
  client.put(keys_from(1, 1), 0x22);  // writes: the slab was lent again
}

TEST(ClientWrite, ASlabWithOpenReservationsIsBusyAndReleasedAfterwards) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots = client.reserve(keys_from(0, 1));
  daemon.revoke(0);
  wait_until([&] { return daemon.slab_acks().size() == 1; });
  EXPECT_EQ(daemon.slab_acks()[0].state, SlabState::kBusy);
  std::memset(slots[0].data, 1, 4096);  // still writable
  EXPECT_EQ(kvc_commit(client.space, slots.data(), 1, 0, 0), KVC_OK);
  wait_until([&] { return daemon.slab_acks().size() == 2; });
  EXPECT_EQ(daemon.slab_acks()[1].state, SlabState::kReleased);
  EXPECT_EQ(daemon.slab_acks()[1].epoch, daemon.slab_acks()[0].epoch);
}

// The daemon may publish, evict and grant a slot again, or ask for its slab, before its answer arrives here.
TEST(ClientWrite, ASlotIsLetGoBeforeItsRecordGoesOut) {
  FakeDaemon daemon({.unanswered = {Op::kCommit}});
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots = client.reserve(keys_from(0, 1));
  std::thread committing([&] { EXPECT_EQ(kvc_commit(client.space, slots.data(), 1, KVC_WAIT, 0), KVC_OK); });
  wait_until([&] { return client.stats().reservations_open == 0; });
  daemon.revoke(0);
  wait_until([&] { return daemon.slab_acks().size() == 1; });
  EXPECT_EQ(daemon.slab_acks()[0].state, SlabState::kReleased);
  daemon.change({});
  wait_until([&] {
    daemon.answer_now();
    return client.ready(keys_from(0, 1)) == 1;
  });
  committing.join();
}

TEST(ClientWrite, ASlabIsUnmappedWhenItsLastLeaseEnds) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  client.put(keys_from(0, 1), 0x31);
  ASSERT_EQ(client.acquire(keys_from(0, 1)), 1U);
  daemon.remove_slab(0);
  daemon.remove_slab(3);
  wait_until([&] { return !daemon.slab_acks().empty(); });
  EXPECT_EQ(daemon.slab_acks()[0].slab, 3U);  // the one without a lease goes at once
  EXPECT_EQ(client.first_byte(), 0x31);
  kvc_release(client.lease);
  wait_until([&] { return daemon.slab_acks().size() == 2; });
  EXPECT_EQ(daemon.slab_acks()[1].slab, 0U);
  EXPECT_EQ(daemon.slab_acks()[1].state, SlabState::kUnmapped);
  EXPECT_EQ(client.acquire(keys_from(0, 1)), 0U);
}

TEST(ClientWrite, AMovedDirectoryIsFollowedUnderLoad) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  client.put(keys_from(0, 50));
  std::atomic<bool> is_done{false};
  std::thread reads([&] {
    while (!is_done) ASSERT_EQ(client.ready(keys_from(0, 50)), 50U);
  });
  for (std::uint32_t i = 1; i <= 10; ++i) {
    daemon.move_directory();
    wait_until([&] { return daemon.directory_acks() == i; });
  }
  is_done = true;
  reads.join();
}

TEST(ClientWrite, AGrantMayArriveBeforeItsSlabIsAnnounced) {
  FakeDaemon daemon({.announces_slabs_late = true});
  const TestClient client(daemon.path());
  std::thread announces([&] {
    wait_until([&] { return client.stats().requests > 0; });
    daemon.announce_slabs();
  });
  EXPECT_EQ(client.reserve(keys_from(0, 1))[0].code, KVC_OK);
  announces.join();
}

}  // namespace
}  // namespace kvtier::test
