// What tiers hold: slabs of slots, segments of records, the index, the write budget.

#include "tools/planner/tier_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "libkvclient/base/units.h"
#include "tests/unit/planner/shapes.h"

namespace kvtier::test {
namespace {

using plan::Codec;
using plan::TierKind;

plan::TierSizes sizes() {
  plan::TierSizes tiers{.gpu_bytes = 10 * kGiB, .host_bytes = kGiB, .slab_bytes = 16 * kMiB};
  tiers.nvme_path_bytes = {4 * kGiB + kMiB};
  tiers.segment_bytes = 256 * kMiB;
  tiers.block_bytes_max = 16 * kMiB;
  tiers.blocks_max = 1 << 20;
  return tiers;
}

// Llama-3.1-8B: blocks of 2 MiB; 100 tokens are 7 blocks.
plan::TierRow row_of(TierKind tier, const plan::TierSizes& tiers, Codec codec = Codec::kRaw,
                     const plan::KvModel& model = model_of({32, 8})) {
  const plan::TierQuestion question{.workload = workload(100), .block_tokens = 16};
  const auto codecs = plan::codec_sizes(model, question.workload.dtype, question.block_tokens).value();
  for (const plan::TierRow& row : plan::plan_tiers(tiers, codecs, question)) {
    if (row.tier == tier && row.codec == codec) return row;
  }
  ADD_FAILURE() << "there is no such row";
  return {};
}

TEST(TierPlan, HostIsSlabsOfWholeSlots) {
  const plan::TierRow raw = row_of(TierKind::kHost, sizes());
  EXPECT_EQ(raw.blocks, 64U * 8);
  EXPECT_EQ(raw.tokens, 512U * 16);
  EXPECT_EQ(raw.sequences, 512U / 7);
  EXPECT_FALSE(raw.budget_seconds.has_value());
  // 1,064,960 bytes are 260 pages: 15 in a slab of 16 MiB, whose rest is lost.
  EXPECT_EQ(row_of(TierKind::kHost, sizes(), Codec::kI8t).blocks, 64U * 15);
}

TEST(TierPlan, TheLastSlabMayBeShorter) {
  plan::TierSizes tiers = sizes();
  tiers.host_bytes = 40 * kMiB;
  EXPECT_EQ(row_of(TierKind::kHost, tiers).blocks, 8U + 8 + 4);
}

TEST(TierPlan, ABlockLargerThanASlabIsSaidWithTheKnob) {
  const plan::TierRow row = row_of(TierKind::kHost, sizes(), Codec::kRaw, model_of({80, 64}));
  EXPECT_EQ(row.blocks, 0U);
  EXPECT_NE(row.note.find("40 MiB is larger than a slab, 16 MiB: raise host.slab_bytes"), std::string::npos)
      << row.note;
  const plan::TierRow disk = row_of(TierKind::kNvme, sizes(), Codec::kRaw, model_of({80, 64}));
  EXPECT_EQ(disk.blocks, 0U);
  EXPECT_NE(disk.note.find("larger than what goes to disk"), std::string::npos) << disk.note;
}

// A segment of 256 MiB has a header page, records of 2 MiB + 4 KiB, an index of 64 + 120 n bytes in pages, a trailer
// page: 127 of them. 16 segments, one of which is for moves.
TEST(TierPlan, DiskIsSegmentsOfRecords) {
  const plan::TierRow raw = row_of(TierKind::kNvme, sizes());
  EXPECT_EQ(raw.block_bytes, 2 * kMiB + 4096);
  EXPECT_EQ(raw.blocks, 15U * 127);
  EXPECT_FALSE(raw.budget_seconds.has_value()) << "no limit";
}

// Of 86,400 x 7 x (2 MiB + 4 KiB + 120) bytes a day all 7 blocks take one second.
TEST(TierPlan, TheWriteBudgetIsSpentBySeconds) {
  plan::TierSizes tiers = sizes();
  tiers.puts_bytes_per_day = 86'400 * 7 * (2 * kMiB + 4096 + 120);
  EXPECT_DOUBLE_EQ(row_of(TierKind::kNvme, tiers).budget_seconds.value(), 1.0);
}

TEST(TierPlan, TheIndexBoundsSmallBlocks) {
  plan::TierSizes tiers = sizes();
  tiers.blocks_max = 100;
  const plan::TierRow row = row_of(TierKind::kNvme, tiers);
  EXPECT_EQ(row.blocks, 100U);
  EXPECT_NE(row.note.find("room for 100 of 1905 blocks"), std::string::npos) << row.note;
}

// The footer's index may have 8 MiB: 69,904 entries of 120 bytes, however small the records.
TEST(TierPlan, AFootersIndexBoundsASegment) {
  plan::TierSizes tiers = sizes();
  tiers.nvme_path_bytes = {8 * kGiB + kMiB};
  tiers.segment_bytes = 2 * kGiB;
  tiers.blocks_max = 1 << 30;
  EXPECT_EQ(row_of(TierKind::kNvme, tiers, Codec::kRaw, model_of({1, 1, 1, 1})).blocks, 3U * 69'904);
}

TEST(TierPlan, CodecsGoWhereTheyAreMeantFor) {
  const plan::TierQuestion question{.workload = workload(100, "bf16"), .block_tokens = 16};
  const auto codecs = plan::codec_sizes(model_of({32, 8}), question.workload.dtype, 16).value();
  std::string seen;
  for (const plan::TierRow& row : plan::plan_tiers(sizes(), codecs, question))
    seen += std::string(plan::tier_name(row.tier)) + "." + std::string(plan::codec_name(row.codec)) + " ";
  EXPECT_EQ(
      seen,
      "gpu.raw host.raw host.i8t host.i4a host.i4c nvme.raw nvme.i8t nvme.xpl nvme.i4a nvme.i4c nvme.mix ");
  EXPECT_FALSE(plan::is_in_build(TierKind::kGpu));
}

TEST(TierPlan, WithoutATierThereIsNoRowOfIt) {
  plan::TierSizes tiers = sizes();
  tiers.gpu_bytes = 0;
  tiers.nvme_path_bytes.clear();
  const plan::TierQuestion question{.workload = workload(100), .block_tokens = 16};
  const auto codecs = plan::codec_sizes(model_of({32, 8}), question.workload.dtype, 16).value();
  const auto rows = plan::plan_tiers(tiers, codecs, question);
  EXPECT_TRUE(
      std::ranges::all_of(rows, [](const plan::TierRow& row) { return row.tier == TierKind::kHost; }));
}

TEST(TierPlan, TheLastBlockOfASequenceCountsWhole) {
  EXPECT_EQ(plan::blocks_a_sequence({.workload = workload(1), .block_tokens = 16}), 1U);
  EXPECT_EQ(plan::blocks_a_sequence({.workload = workload(16), .block_tokens = 16}), 1U);
  EXPECT_EQ(plan::blocks_a_sequence({.workload = workload(17), .block_tokens = 16}), 2U);
  EXPECT_EQ(plan::blocks_a_sequence({.workload = workload(~std::uint64_t{0}), .block_tokens = 16}),
            1ULL << 60);
}

}  // namespace
}  // namespace kvtier::test
