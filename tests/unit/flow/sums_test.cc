// kSums: sums of leased blocks, taken at once for who waits, told to nobody else; and doubts, which the daemon looks into.

#include <algorithm>
#include <cstring>

#include "libkvclient/base/checksum.h"
#include "tests/unit/flow/disk_fixture.h"

namespace kvtier::test {
namespace {

class SumsFixture : public DiskFixture {
 protected:
  // The place of a block, as a client finds it in its directory.
  SumEntry entry_of(SimClient& client, SpaceId space, const Key& key) {
    const std::optional<SimLease> lease = client.acquire(space, key);
    EXPECT_TRUE(lease.has_value());
    if (!lease) return {};
    SimLease open = *lease;
    const SumEntry entry{.generation = record_of(space, key)->generation, .slot = open.slot};
    SimClient::release(open);
    return entry;
  }
  std::vector<SumEntry> entries_of(SimClient& client, SpaceId space, const std::vector<Key>& keys) {
    std::vector<SumEntry> entries;
    for (const Key& key : keys) entries.push_back(entry_of(client, space, key));
    return entries;
  }

  /// Sends them at the arena's place `at`.
  std::uint32_t ask(SimClient& client, const std::vector<SumEntry>& entries, SpaceId space,
                    std::uint16_t flags = 0, TimeNs deadline_ns = 0, std::uint64_t at = 0) {
    Submission submission{};
    submission.op = Op::kSums;
    submission.flags = flags;
    submission.request_id = next_request_++;
    submission.space = space;
    submission.count = static_cast<std::uint32_t>(entries.size());
    submission.arena_offset = at;
    submission.deadline_ns = deadline_ns;
    std::memcpy(arena(client) + at, entries.data(), entries.size() * sizeof(SumEntry));
    store_->submit(client.session(), submission);
    deliver();
    return submission.request_id;
  }
  std::vector<SumEntry> answer(SimClient& client, std::size_t count, std::uint64_t at = 0) {
    std::vector<SumEntry> entries(count);
    std::memcpy(entries.data(), arena(client) + at, count * sizeof(SumEntry));
    return entries;
  }
  static std::byte* arena(SimClient& client) { return client.channel() + ChannelLayout::kArena; }

  /// Plays the background agent. How many blocks it summed.
  std::size_t sum_due() {
    std::size_t count = 0;
    while (const std::optional<ChecksumJob> job = store_->checksum_next()) {
      store_->checksum_done(*job, checksum64(job->bytes));
      ++count;
    }
    settle();
    return count;
  }
  void sum_all() {
    advance(2 * kNsPerSecond);
    while (sum_due() > 0) {
    }
  }
  static void scribble(SimClient& client, const SumEntry& entry) {
    client.bytes_of(entry.slot, kBlock)[kBlock / 2] ^= std::byte{1};
  }

  std::uint32_t next_request_ = 1'000'000;
};

class SumsTest : public SumsFixture {
 protected:
  void SetUp() override {
    make_disk_store(64);
    client_ = &add_client();
    space_ = usual_space(*client_);
    put_chain(*client_, space_, keys_);
  }
  std::vector<SumEntry> entries() { return entries_of(*client_, space_, keys_); }
  void expect_right(const std::vector<SumEntry>& answered) {
    ASSERT_EQ(answered.size(), keys_.size());
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      std::optional<SimLease> lease = client_->acquire(space_, keys_[i]);
      ASSERT_TRUE(lease.has_value());
      EXPECT_EQ(answered[i].code, Code::kOk);
      EXPECT_EQ(answered[i].sum, checksum64(lease->bytes));
      SimClient::release(*lease);
    }
  }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
  const std::vector<Key> keys_ = keys_of(1, 8);
};

TEST_F(SumsTest, sums_that_are_there_are_told_at_once) {
  sum_all();
  const std::uint32_t request = ask(*client_, entries(), space_);
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).code, Code::kOk);
  EXPECT_EQ(client_->completion(request).count, 8U);
  expect_right(answer(*client_, 8));
}

TEST_F(SumsTest, a_block_that_waits_for_its_sum_gets_it_at_once_and_the_answer_waits) {
  put(*client_, space_, keys_of(2, 4));
  EXPECT_EQ(sum_due(), 0U) << "nobody asked, and a second is not over";
  const std::uint32_t request = ask(*client_, entries(), space_);
  EXPECT_FALSE(client_->is_answered(request));
  EXPECT_EQ(store_->next_deadline(), 0U) << "the background agent is to be given work";
  EXPECT_EQ(sum_due(), 8U) << "those, and no others";
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).count, 8U);
  expect_right(answer(*client_, 8));
  EXPECT_EQ(stats().waits_open, 0U);
}

TEST_F(SumsTest, the_deadline_answers_with_those_that_are_there) {
  sum_all();
  put(*client_, space_, keys_of(2, 1));
  std::vector<SumEntry> asked = entries();
  asked.push_back(entry_of(*client_, space_, keys_of(2, 1)[0]));
  const std::uint32_t request = ask(*client_, asked, space_, 0, clock_.now_ns() + kNsPerMs);
  EXPECT_FALSE(client_->is_answered(request));
  advance(kNsPerMs);
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).code, Code::kDeadline);
  EXPECT_EQ(client_->completion(request).count, 8U);
  EXPECT_EQ(answer(*client_, 9)[8].code, Code::kPending);
  EXPECT_EQ(answer(*client_, 9)[8].sum, 0U);
  (void)sum_due();  // SimClient fails on a second answer
}

TEST_F(SumsTest, a_cancel_and_the_end_of_the_process_end_it) {
  const std::uint32_t request = ask(*client_, entries(), space_);
  (void)client_->simple(Op::kCancel, space_, {}, request);
  deliver();
  EXPECT_EQ(client_->completion(request).code, Code::kDeadline);
  SimClient& other = add_client();
  (void)usual_space(other);
  const std::uint32_t open = ask(other, entries(), space_);
  EXPECT_FALSE(other.is_answered(open));
  end_process(other);
  EXPECT_EQ(stats().waits_open, 0U);
  (void)sum_due();
}

TEST_F(SumsTest, a_block_that_leaves_meanwhile_is_none) {
  const std::uint32_t request = ask(*client_, entries(), space_);
  (void)call(*client_, Op::kInvalidate, space_, {});
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).count, 0U);
  for (const SumEntry& each : answer(*client_, 8)) EXPECT_EQ(each.code, Code::kNotFound);
}

TEST_F(SumsTest, places_that_are_no_blocks_are_not_found) {
  sum_all();
  const SumEntry good = entries()[0];
  std::vector<SumEntry> asked(8, good);
  asked[0].generation += 1;
  asked[1].generation = 0;
  asked[2].slot = SlotRef::of(SlotRef::kSlabsMax - 1, 0);
  asked[3].slot = SlotRef::of(good.slot.slab(), SlotRef::kSlotsMax - 1);
  asked[4].slot = SlotRef::of(15, 0);  // a slab of nobody
  asked[5].slot.bits = ~0U;
  asked[6].generation = ~0ULL;
  const std::uint32_t request = ask(*client_, asked, space_);
  EXPECT_EQ(client_->completion(request).count, 1U);
  const std::vector<SumEntry> answered = answer(*client_, 8);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(answered[i].code, Code::kNotFound) << i;
    EXPECT_EQ(answered[i].sum, 0U) << i;
  }
  EXPECT_EQ(answered[7].code, Code::kOk);
  EXPECT_EQ(client_->completion(ask(*client_, asked, SpaceId{2})).count, 0U) << "of another space";
}

TEST_F(SumsTest, nothing_is_told_or_summed_or_doubted_for_another_namespace) {
  sum_all();
  put(*client_, space_, keys_of(2, 1));
  SimClient& stranger = add_client("theirs");
  (void)usual_space(stranger);
  std::vector<SumEntry> asked = entries();
  asked.push_back(entry_of(*client_, space_, keys_of(2, 1)[0]));
  for (const std::uint16_t flags : {std::uint16_t{0}, kFlagDoubt}) {
    const std::uint32_t request = ask(stranger, asked, space_, flags);
    ASSERT_TRUE(stranger.is_answered(request)) << "nothing is waited for";
    EXPECT_EQ(stranger.completion(request).count, 0U);
    for (const SumEntry& each : answer(stranger, 9)) {
      EXPECT_EQ(each.code, Code::kNotFound);
      EXPECT_EQ(each.sum, 0U);
    }
  }
  EXPECT_EQ(sum_due(), 0U);
  EXPECT_EQ(stats().blocks_doubted, 0U);
}

TEST_F(SumsTest, what_is_against_the_protocol_ends_the_session) {
  const std::vector<std::uint32_t> counts = {0, kRequestKeysMax + 1};
  for (const std::uint32_t count : counts) {
    SimClient& client = add_client();
    Submission submission{};
    submission.op = Op::kSums;
    submission.count = count;
    store_->submit(client.session(), submission);
    deliver();
    EXPECT_TRUE(client.is_ended()) << count;
  }
  SimClient& beyond = add_client();
  Submission submission{};
  submission.op = Op::kSums;
  submission.count = 2;
  submission.arena_offset = kArenaBytes - sizeof(SumEntry);
  store_->submit(beyond.session(), submission);
  deliver();
  EXPECT_TRUE(beyond.is_ended());
  SimClient& doubter = add_client();
  (void)ask(doubter, std::vector<SumEntry>(65), space_, kFlagDoubt);
  EXPECT_TRUE(doubter.is_ended());
  EXPECT_FALSE(client_->is_ended());
}

TEST_F(SumsTest, a_session_waits_for_a_bounded_number_and_for_one_doubt) {
  const std::vector<SumEntry> many(kRequestKeysMax, entries()[0]);
  for (std::uint64_t i = 0; i < 4; ++i)
    EXPECT_FALSE(client_->is_answered(ask(*client_, many, space_, 0, 0, i * many.size() * sizeof(SumEntry))));
  const std::uint32_t refused = ask(*client_, {many[0]}, space_, 0, 0, kArenaBytes - sizeof(SumEntry));
  EXPECT_EQ(client_->completion(refused).code, Code::kBusy);
  EXPECT_EQ(sum_due(), 1U);
  EXPECT_EQ(stats().waits_open, 0U);
  EXPECT_FALSE(client_->is_answered(ask(*client_, {many[0]}, space_, kFlagDoubt)));
  EXPECT_EQ(client_->completion(ask(*client_, {many[0]}, space_, kFlagDoubt, 0, 64)).code, Code::kBusy);
  EXPECT_EQ(sum_due(), 1U);
  EXPECT_FALSE(client_->is_answered(ask(*client_, {many[0]}, space_, kFlagDoubt)));
  (void)sum_due();
}

// ---- doubts ----

TEST_F(SumsTest, a_doubt_is_not_believed) {
  sum_all();
  const std::uint32_t request = ask(*client_, entries(), space_, kFlagDoubt);
  EXPECT_FALSE(client_->is_answered(request));
  EXPECT_EQ(sum_due(), 8U);
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).count, 8U) << "they are right";
  EXPECT_EQ(count_ready(*client_, space_, keys_), 8U);
  EXPECT_EQ(stats().blocks_doubted, 8U);
  EXPECT_EQ(stats().blocks_corrupt, 0U);
}

TEST_F(SumsTest, what_is_wrong_is_taken_out_and_those_below_it_stay) {
  sum_all();
  const std::vector<SumEntry> asked = entries();
  scribble(*client_, asked[3]);
  const std::uint32_t request = ask(*client_, {asked[3]}, space_, kFlagDoubt);
  (void)sum_due();
  EXPECT_EQ(client_->completion(request).count, 0U);
  EXPECT_EQ(answer(*client_, 1)[0].code, Code::kNotFound);
  EXPECT_EQ(client_->match(space_, keys_[3]), 0);
  EXPECT_EQ(count_ready(*client_, space_, keys_), 7U);
  EXPECT_EQ(stats().blocks_corrupt, 1U);
  EXPECT_EQ(stats().checksum_failures, 1U);
  EXPECT_EQ(store_->corrupt().count, 1U);
  EXPECT_EQ(store_->corrupt().key, keys_[3]);
  EXPECT_EQ(store_->corrupt().namespace_name, "main");
  put(*client_, space_, {keys_[3]});
  EXPECT_EQ(count_ready(*client_, space_, keys_), 8U) << "computed anew";
}

TEST_F(SumsTest, a_leased_block_that_is_wrong_goes_at_once_and_its_slot_when_the_lease_ends) {
  sum_all();
  std::optional<SimLease> lease = client_->acquire(space_, keys_[0]);
  scribble(*client_, entries()[0]);
  const std::uint64_t free_before = stats().slots_free;
  (void)ask(*client_, {entries()[0]}, space_, kFlagDoubt);
  (void)sum_due();
  EXPECT_EQ(client_->match(space_, keys_[0]), 0);
  EXPECT_EQ(stats().blocks_draining, 1U);
  EXPECT_EQ(stats().slots_free, free_before);
  SimClient::release(*lease);
  advance(kNsPerSecond);
  EXPECT_EQ(stats().blocks_draining, 0U);
  EXPECT_EQ(stats().slots_free, free_before + 1);
}

TEST_F(SumsTest, a_doubted_block_that_is_invalidated_meanwhile_is_judged_no_more) {
  sum_all();
  scribble(*client_, entries()[0]);
  const std::uint32_t request = ask(*client_, {entries()[0]}, space_, kFlagDoubt);
  const std::optional<ChecksumJob> job = store_->checksum_next();
  ASSERT_TRUE(job.has_value());
  (void)call(*client_, Op::kInvalidate, space_, {});
  EXPECT_TRUE(client_->is_answered(request));
  store_->checksum_done(*job, checksum64(job->bytes));
  advance(kNsPerSecond);
  EXPECT_EQ(stats().blocks_corrupt, 0U);
  EXPECT_EQ(stats().blocks_draining, 0U);
}

TEST_F(SumsTest, doubts_and_first_sums_take_turns) {
  sum_all();
  put_chain(*client_, space_, keys_of(2, 8));
  (void)ask(*client_, entries_of(*client_, space_, keys_of(2, 8)), space_);
  (void)ask(*client_, entries(), space_, kFlagDoubt, 0, 4096);
  std::size_t doubted = 0;
  std::vector<ChecksumJob> jobs;
  for (int i = 0; i < 8; ++i) {
    jobs.push_back(store_->checksum_next().value());
    doubted += jobs.back().is_doubted ? 1 : 0;
  }
  EXPECT_EQ(doubted, 4U);
  for (const ChecksumJob& job : jobs) store_->checksum_done(job, checksum64(job.bytes));
  (void)sum_due();
}

// ---- beside the NVMe tier ----

class SumsDiskTest : public SumsFixture {
 protected:
  void make(DiskWrite how) {
    StoreOptions options;
    options.disk_write = how;
    make_disk_store(16, options);
    client_ = &add_client();
    space_ = usual_space(*client_);
  }
  void doubt(const Key& key) { (void)ask(*client_, {entry_of(*client_, space_, key)}, space_, kFlagDoubt); }
  void restore(const std::vector<Key>& keys) {
    EXPECT_EQ(call(*client_, Op::kRestore, space_, keys).code, Code::kOk);
    settle();
  }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
  const std::vector<Key> keys_ = keys_of(1, 4);
};

TEST_F(SumsDiskTest, a_suspect_block_is_not_written_to_disk) {
  make(DiskWrite::kThrough);
  port_->takes_puts_now = false;
  put_chain(*client_, space_, keys_);
  sum_all();
  scribble(*client_, entry_of(*client_, space_, keys_[1]));
  doubt(keys_[1]);
  port_->takes_puts_now = true;
  advance(kNsPerSecond);
  EXPECT_EQ(disk_.count_of(keys_[1]), 0U);
  (void)sum_due();
  advance(kNsPerSecond);
  EXPECT_EQ(disk_.count_of(keys_[1]), 0U);
  EXPECT_EQ(states_of(*client_, space_, keys_), (std::vector<int>{1, 0, 1, 1}));
}

TEST_F(SumsDiskTest, a_block_that_was_doubted_without_cause_is_written_after_all) {
  make(DiskWrite::kThrough);
  port_->takes_puts_now = false;
  put_chain(*client_, space_, keys_);
  sum_all();
  doubt(keys_[3]);
  port_->takes_puts_now = true;
  advance(kNsPerSecond);
  EXPECT_EQ(disk_.count_of(keys_[3]), 0U);
  (void)sum_due();
  advance(kNsPerSecond);
  EXPECT_EQ(disk_.count_of(keys_[3]), 1U);
}

TEST_F(SumsDiskTest, the_copy_on_disk_stays_and_brings_the_block_back) {
  make(DiskWrite::kThrough);
  put_chain(*client_, space_, keys_);
  sum_all();
  ASSERT_EQ(disk_.count_of(keys_[1]), 1U);
  std::optional<SimLease> lease = client_->acquire(space_, keys_[1]);  // of one who does not verify
  scribble(*client_, entry_of(*client_, space_, keys_[1]));
  doubt(keys_[1]);
  (void)sum_due();
  EXPECT_EQ(states_of(*client_, space_, keys_), (std::vector<int>{1, 3, 1, 1}));
  EXPECT_EQ(stats().blocks_cold, 1U);
  const BlockRecord* copy = record_of(space_, keys_[1]);
  EXPECT_EQ(store_->state().blocks[copy->parent].key, keys_[0]) << "its place in the tree is the block's";
  EXPECT_EQ(store_->state().blocks[copy->first_child].key, keys_[2]);
  check_store(*store_);
  restore(keys_);
  EXPECT_EQ(sum_due(), 1U) << "the copy is compared as well";
  EXPECT_EQ(states_of(*client_, space_, keys_), std::vector<int>(4, 1));
  expect_bytes(*client_, space_, keys_);
  EXPECT_EQ(stats().blocks_corrupt, 1U);
  SimClient::release(*lease);
  advance(kNsPerSecond);
  EXPECT_EQ(stats().blocks_draining, 0U);
}

TEST_F(SumsDiskTest, a_copy_that_was_written_after_the_damage_goes_with_the_block) {
  make(DiskWrite::kThrough);
  port_->takes_puts_now = false;
  put_chain(*client_, space_, keys_);
  sum_all();
  scribble(*client_, entry_of(*client_, space_, keys_[3]));
  port_->takes_puts_now = true;
  advance(kNsPerSecond);
  ASSERT_EQ(disk_.count_of(keys_[3]), 1U) << "nobody had looked";
  doubt(keys_[3]);
  (void)sum_due();
  EXPECT_EQ(client_->match(space_, keys_[3]), 3);
  restore(keys_);
  EXPECT_EQ(client_->match(space_, keys_[3]), 1);
  EXPECT_EQ(sum_due(), 1U);
  EXPECT_EQ(client_->match(space_, keys_[3]), 0) << "memory and disk";
  EXPECT_EQ(stats().blocks_corrupt, 2U);
}

TEST_F(SumsDiskTest, a_put_that_is_under_way_leaves_no_copy) {
  make(DiskWrite::kThrough);
  port_->takes_puts_now = false;
  put_chain(*client_, space_, keys_);
  sum_all();
  scribble(*client_, entry_of(*client_, space_, keys_[3]));
  port_->is_automatic = false;
  port_->takes_puts_now = true;
  advance(kNsPerSecond);
  ASSERT_EQ(port_->open_count(), 4U);
  doubt(keys_[3]);
  (void)sum_due();
  EXPECT_EQ(client_->match(space_, keys_[3]), 0);
  EXPECT_EQ(stats().blocks_draining, 1U) << "the device reads the slot";
  port_->answer();
  advance(kNsPerSecond);
  EXPECT_EQ(stats().blocks_draining, 0U);
  EXPECT_EQ(port_->forgets, 1U);
  EXPECT_EQ(client_->match(space_, keys_[3]), 0);
}

}  // namespace
}  // namespace kvtier::test
