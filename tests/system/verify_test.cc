// KVC_VERIFY over the real daemon: a writer that writes into what it has committed, a daemon that hangs or dies.

#include <gtest/gtest.h>

#include "tests/support/pattern_block.h"
#include "tests/system/nvme_fixture.h"

namespace kvtier::test {
namespace {

constexpr std::size_t kBlocks = 8;

class VerifyTest : public NvmeTest {
 protected:
  void connect() {
    writer_ = std::make_unique<CacheClient>(CacheClient::Options{.socket = place_.socket()});
    plain_ = std::make_unique<CacheClient>(CacheClient::Options{.socket = place_.socket()});
    wary_ =
        std::make_unique<CacheClient>(CacheClient::Options{.socket = place_.socket(), .flags = KVC_VERIFY});
    ASSERT_EQ(wary_->code(), KVC_OK) << wary_->error();
  }
  /// Stores chain 1 and keeps the writer's pointers: the slabs are mapped for writing until another is to write there.
  void store_and_keep() {
    const std::vector<kvc_key> keys = chain_keys(1, 0, kBlocks);
    std::vector<kvc_slot> slots(kBlocks);
    ASSERT_EQ(kvc_reserve(writer_->space(), keys.data(), kBlocks, nullptr, slots.data()), KVC_OK);
    for (std::size_t i = 0; i < kBlocks; ++i) {
      ASSERT_EQ(slots[i].code, KVC_OK);
      data_.push_back(static_cast<std::byte*>(slots[i].data));
      fill_pattern(pattern_key(1, i), {data_.back(), kBlockBytes});
    }
    ASSERT_EQ(kvc_commit(writer_->space(), slots.data(), kBlocks, KVC_WAIT, 0), KVC_OK);
  }
  void scribble(std::size_t i) { data_[i][kBlockBytes - 1] ^= std::byte{1}; }
  /// A client misses until it has mapped the slab.
  static void expect_all(CacheClient& client) {
    CacheClient::Read read;
    EXPECT_TRUE(eventually([&] { return (read = client.read(1, kBlocks)).blocks == kBlocks; }));
    EXPECT_EQ(read.wrong_blocks, 0U);
  }
  static kvc_client_stats stats(CacheClient& client) {
    kvc_client_stats stats{};
    stats.struct_size = sizeof stats;
    EXPECT_EQ(kvc_stats(client.client(), &stats), KVC_OK);
    return stats;
  }
  int wary_acquires(std::size_t& held) {
    const std::vector<kvc_key> keys = chain_keys(1, 0, kBlocks);
    kvc_lease* lease = nullptr;
    EXPECT_EQ(kvc_lease_create(wary_->client(), kBlocks, &lease), KVC_OK);
    const int code = kvc_acquire(wary_->space(), keys.data(), kBlocks, 0, 0, lease);
    held = kvc_lease_held(lease);
    kvc_lease_destroy(lease);
    return code;
  }

  std::unique_ptr<CacheClient> writer_;
  std::unique_ptr<CacheClient> plain_;
  std::unique_ptr<CacheClient> wary_;
  std::vector<std::byte*> data_;
};

TEST_F(VerifyTest, a_block_without_a_checksum_is_verified_within_the_call) {
  ASSERT_TRUE(start()) << place_.output();
  connect();
  store_and_keep();
  expect_all(*wary_);
  EXPECT_EQ(stats(*wary_).acquire_corrupt, 0U);
}

TEST_F(VerifyTest, who_verifies_misses_what_its_writer_damaged_and_the_daemon_takes_it_out) {
  ASSERT_TRUE(start()) << place_.output();
  connect();
  store_and_keep();
  expect_all(*wary_);
  expect_all(*plain_);
  scribble(3);
  const CacheClient::Read unnoticed = plain_->read(1, kBlocks);
  EXPECT_EQ(unnoticed.blocks, kBlocks) << "the plain reader does not look at the sum";
  EXPECT_EQ(unnoticed.wrong_blocks, 1U);
  const CacheClient::Read read = wary_->read(1, kBlocks);
  EXPECT_EQ(read.blocks, 3U);
  EXPECT_EQ(read.wrong_blocks, 0U);
  EXPECT_EQ(stats(*wary_).acquire_corrupt, 1U);
  EXPECT_TRUE(counter_becomes("blocks_corrupt", 1)) << place_.output();
  EXPECT_EQ(counter("blocks_doubted"), 1U);
  EXPECT_TRUE(output_comes_to("a block in memory was damaged after its commit"));
  EXPECT_TRUE(output_comes_to(to_hex(pattern_key(1, 3))));
  EXPECT_EQ(plain_->match(1, kBlocks), 3U) << "nobody gets it any more";
  EXPECT_EQ(plain_->read_any(1, kBlocks).wrong_blocks, 0U);
  ASSERT_EQ(writer_->store(1, 3, 1), 1U) << writer_->error();
  expect_all(*wary_);
}

TEST_F(VerifyTest, the_copy_on_disk_brings_a_damaged_block_back) {
  write_policy_ = "through";
  configure({folder("a")});
  ASSERT_TRUE(start_small()) << place_.output();
  connect();
  store_and_keep();
  ASSERT_TRUE(counter_becomes("demotions", kBlocks)) << place_.output();
  expect_all(*wary_);
  scribble(5);
  EXPECT_EQ(wary_->read(1, kBlocks).blocks, 5U);
  EXPECT_TRUE(counter_becomes("blocks_corrupt", 1)) << place_.output();
  EXPECT_EQ(wary_->count_state(1, kBlocks, KVC_STATE_ON_DISK), 1U);
  EXPECT_EQ(wary_->restore(1, kBlocks).ready, kBlocks);
  expect_all(*wary_);
  EXPECT_EQ(counter("blocks_corrupt"), 1U);
}

TEST_F(VerifyTest, a_daemon_that_was_killed_is_a_miss) {
  ASSERT_TRUE(start()) << place_.output();
  connect();
  store_and_keep();
  expect_all(*wary_);
  daemon_->signal(SIGKILL);
  daemon_->wait();
  std::size_t held = 1;
  EXPECT_EQ(wary_acquires(held), KVC_UNAVAILABLE);
  EXPECT_EQ(held, 0U);
}

TEST_F(VerifyTest, a_daemon_that_stands_still_is_a_miss_at_the_deadline) {
  ASSERT_TRUE(start()) << place_.output();
  connect();
  store_and_keep();
  expect_all(*wary_);
  wary_ = std::make_unique<CacheClient>(
      CacheClient::Options{.socket = place_.socket(), .flags = KVC_VERIFY, .deadline_ns = 100 * kNsPerMs});
  ASSERT_TRUE(eventually([&] { return wary_->read(1, kBlocks).blocks == kBlocks; }));
  daemon_->signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return !plain_->ping(50 * kNsPerMs); }));
  std::size_t held = 1;
  EXPECT_EQ(wary_acquires(held), KVC_DEADLINE);
  EXPECT_EQ(held, 0U);
  daemon_->signal(SIGCONT);
  expect_all(*wary_);
}

}  // namespace
}  // namespace kvtier::test
