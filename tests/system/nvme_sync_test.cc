// kvc_sync and kvctl sync of a daemon with an NVMe tier: what is acknowledged is there, what is not is said.

#include <gtest/gtest.h>

#include "tests/system/nvme_fixture.h"

namespace kvtier::test {
namespace {

using NvmeSync = NvmeTest;

// With write-back nothing would be on disk yet, and no second passes: the call alone makes it so.
TEST_F(NvmeSync, what_a_sync_acknowledged_is_there_after_a_kill) {
  write_policy_ = "back";
  configure({folder("a"), folder("b")});
  ASSERT_TRUE(start_small()) << place_.output();
  constexpr std::uint64_t kMine = 3;
  {
    CacheClient client({.socket = place_.socket()});
    for (std::uint64_t chain = 0; chain < kMine; ++chain)
      ASSERT_EQ(client.store(chain, 0, kChainBlocks), kChainBlocks) << client.error();
    std::uint64_t durable = 0;
    std::uint64_t unsaved = 0;
    const std::vector<kvc_key> keys = chain_keys(0, 0, kChainBlocks);
    ASSERT_EQ(kvc_sync(client.space(), keys.data(), keys.size(), kPatienceNs, &durable, &unsaved), KVC_OK)
        << kvc_last_error();
    EXPECT_EQ(durable, kChainBlocks);
    ASSERT_EQ(kvc_sync(client.space(), nullptr, 0, kPatienceNs, &durable, &unsaved), KVC_OK)
        << kvc_last_error();
    EXPECT_EQ(durable, kMine * kChainBlocks);
    EXPECT_EQ(unsaved, 0U);
    daemon_->signal(SIGKILL);
    daemon_->wait();
  }
  ASSERT_TRUE(start_small()) << place_.output();
  CacheClient client({.socket = place_.socket()});
  for (std::uint64_t chain = 0; chain < kMine; ++chain) {
    EXPECT_EQ(client.restore(chain, kChainBlocks).ready, kChainBlocks) << client.error();
    const CacheClient::Read read = client.read(chain, kChainBlocks);
    EXPECT_EQ(read.blocks, kChainBlocks);
    EXPECT_EQ(read.wrong_blocks, 0U);
  }
  ASSERT_EQ(client.store(9, 0, 5), 5U);
  EXPECT_EQ(kvctl({"sync", "--all"}), 0) << said();
  EXPECT_NE(said().find("197 blocks durable\n"), std::string::npos) << said();
  EXPECT_EQ(kvctl({"--json", "sync", "--namespace", "default", "--space", "1"}), 0) << said();
  EXPECT_NE(said().find("\"durable\":197,\"unsaved\":0,\"code\":\"ok\""), std::string::npos) << said();
  EXPECT_EQ(kvctl({"sync"}), 64) << said();
}

TEST_F(NvmeSync, a_sync_that_the_write_budget_refuses_says_how_much_and_why) {
  write_policy_ = "back";
  configure({folder("a")}, "  write_budget_bytes_per_day: 1MiB\n");
  ASSERT_TRUE(start_small()) << place_.output();
  CacheClient client({.socket = place_.socket()});
  ASSERT_EQ(client.store(0, 0, kChainBlocks), kChainBlocks) << client.error();
  EXPECT_EQ(kvctl({"sync", "--all"}), 1) << said();
  EXPECT_NE(said().find("raise nvme.write_budget_bytes_per_day"), std::string::npos) << said();
  std::uint64_t unsaved = 0;
  EXPECT_EQ(kvc_sync(client.space(), nullptr, 0, kPatienceNs, nullptr, &unsaved), KVC_NO_SPACE);
  EXPECT_GT(unsaved, 0U);
}

}  // namespace
}  // namespace kvtier::test
