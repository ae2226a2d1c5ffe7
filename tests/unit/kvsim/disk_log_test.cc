// The simulated NVMe tier: what is kept, and what keeping costs; then what a replay over it is said to cost.

#include "tools/kvsim/disk_log.h"

#include <gtest/gtest.h>

#include "tools/kvsim/replay.h"

namespace kvtier::sim {
namespace {

TEST(DiskLog, TheOldestSegmentGoesAndWhatWasUsedIsMovedOnce) {
  DiskLog log(6, 2, 20);
  for (BlockNumber block = 0; block < 6; ++block) log.put(block);
  log.put(3);
  EXPECT_EQ(log.puts(), 6U) << "it was there";
  log.used(1);
  log.put(6);
  EXPECT_FALSE(log.has(0));
  EXPECT_TRUE(log.has(1)) << "moved";
  EXPECT_EQ(log.moves(), 1U);
  for (BlockNumber block = 7; block < 12; ++block) log.put(block);
  EXPECT_FALSE(log.has(1)) << "not used since";
  EXPECT_EQ(log.moves(), 1U);
  EXPECT_DOUBLE_EQ(log.write_amplification(), 13.0 / 12);
}

TEST(DiskLog, ATierFullOfUsedBlocksTakesNewOnes) {
  DiskLog log(6, 2, 20);
  for (BlockNumber block = 0; block < 6; ++block) log.put(block);
  for (BlockNumber block = 0; block < 6; ++block) log.used(block);
  log.put(6);
  EXPECT_TRUE(log.has(6));
}

Trace three_prompts() {
  Trace trace;
  for (const BlockNumber first : {0U, 2U, 0U}) {
    trace.requests.push_back(
        {.time_ms = 1000 * trace.requests.size(), .first = trace.blocks.size(), .count = 2});
    trace.blocks.push_back(first);
    trace.blocks.push_back(first + 1);
  }
  trace.unique = 4;
  return trace;
}

TEST(Tiers, WhatLeftMemoryIsReadBackAndCountedAndTimed) {
  const TierOptions tiers{.nvme_percent = 100,
                          .segment_blocks = 1,
                          .block_tokens = 10,
                          .block_bytes = 1'000'000,
                          .host_gb_per_s = 2,
                          .nvme_gb_per_s = 1,
                          .prefill_tokens_per_s = 1000};
  const ReplayResult result = replay(three_prompts(), *find_policy("default"), 2, {}, tiers);
  ASSERT_TRUE(result.tiers.has_value());
  EXPECT_EQ(result.hits, 2U);
  EXPECT_EQ(result.tiers->hits_host, 0U);
  EXPECT_EQ(result.tiers->hits_nvme, 2U);
  EXPECT_EQ(result.tiers->bytes_restored, 2'000'000U);
  EXPECT_EQ(result.tiers->bytes_written, 4'000'000U);
  EXPECT_DOUBLE_EQ(result.tiers->write_amplification, 1.0);
  // 20 ms each computed; the third 2 ms from NVMe and 1 ms to the GPU.
  EXPECT_DOUBLE_EQ(result.tiers->ttft_ms_mean_uncached, 20.0);
  EXPECT_DOUBLE_EQ(result.tiers->ttft_ms_mean, (20.0 + 20.0 + 3.0) / 3);
  EXPECT_DOUBLE_EQ(result.tiers->ttft_ms_p99, 20.0);
  EXPECT_FALSE(replay(three_prompts(), *find_policy("default"), 2).tiers.has_value());
}

}  // namespace
}  // namespace kvtier::sim
