// What clients found wrong: the daemon looks itself, takes out what is, and keeps what the disk has.

#include "tests/unit/flow/sums_fixture.h"

namespace kvtier::test {
namespace {

using DoubtsTest = SumsTest;

TEST_F(DoubtsTest, a_doubt_is_not_believed) {
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

TEST_F(DoubtsTest, what_is_wrong_is_taken_out_and_those_below_it_stay) {
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

TEST_F(DoubtsTest, a_leased_block_that_is_wrong_goes_at_once_and_its_slot_when_the_lease_ends) {
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

TEST_F(DoubtsTest, a_doubted_block_that_is_invalidated_meanwhile_is_judged_no_more) {
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

TEST_F(DoubtsTest, doubts_and_first_sums_take_turns) {
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

class DoubtsDiskTest : public SumsFixture {
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

TEST_F(DoubtsDiskTest, a_block_that_leaves_memory_for_the_disk_is_not_waited_for) {
  make(DiskWrite::kThrough);
  put_chain(*client_, space_, keys_);
  settle();
  const std::uint32_t request = ask(*client_, entries_of(*client_, space_, keys_), space_, 0, 0, 1 << 19);
  EXPECT_FALSE(client_->is_answered(request));
  put_chain(*client_, space_, keys_of(2, 16));
  settle();
  ASSERT_EQ(count_cold(*client_, space_, keys_), 4U);
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).count, 0U);
}

TEST_F(DoubtsDiskTest, a_suspect_block_is_not_written_to_disk) {
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

TEST_F(DoubtsDiskTest, a_block_that_was_doubted_without_cause_is_written_after_all) {
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

TEST_F(DoubtsDiskTest, the_copy_on_disk_stays_and_brings_the_block_back) {
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

TEST_F(DoubtsDiskTest, a_copy_that_was_written_after_the_damage_goes_with_the_block) {
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

TEST_F(DoubtsDiskTest, a_put_that_is_under_way_leaves_no_copy) {
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
