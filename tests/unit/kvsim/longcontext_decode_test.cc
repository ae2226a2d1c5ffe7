// Steps whose figures are known beforehand, and what must hold of any.

#include "tools/kvsim/longcontext_decode.h"

#include <gtest/gtest.h>

namespace kvtier::sim {
namespace {

constexpr std::uint64_t kPage = 65536;

// 4 layers, 128 pages each, 32 of them selected; room for half of them on the GPU.
DecodeOptions small() {
  DecodeOptions options;
  options.shape.layers = 4;
  options.context_tokens = 2048;
  options.selection.budget_tokens = 512;
  options.gpu_bytes = 4 * 64 * kPage;
  options.warmup_steps = 0;
  options.steps = 50;
  return options;
}

DecodeCounts counts_of(const DecodeOptions& options) {
  return Decode(options).run().counts;
}

Picoseconds compute_ps(const DecodeOptions& options, double digest_bytes_a_layer,
                       std::uint64_t pages_a_layer) {
  const DecodeCost cost(options.shape, options.gpu, options.batch);
  return options.shape.layers *
             (cost.select_ps(digest_bytes_a_layer) + cost.attend_ps(pages_a_layer) + cost.rest_ps()) +
         cost.logits_ps();
}

void expect_every_access_counted_once(const DecodeCounts& counts) {
  EXPECT_EQ(counts.accesses, counts.gpu_hits + counts.late + counts.host_reads + counts.nvme_reads);
}

TEST(LongContextModel, TheShapeHasTheBytesOfTheRow) {
  const ModelShape shape;
  EXPECT_EQ(page_bytes(shape), kPage);
  EXPECT_EQ(token_bytes(shape), 131072U);
}

TEST(LongContextModel, OneSequenceIsBoundByTheBytesOfTheWeights) {
  const DecodeCost cost(ModelShape{}, GpuRates{}, 1);
  EXPECT_EQ(cost.logits_ps(), ps_for(2.0 * 4096 * 128256, 4.8e12));
  EXPECT_EQ(cost.rest_ps(), ps_for(2.0 * (4096.0 * 4096 + 3.0 * 4096 * 14336), 4.8e12));
  EXPECT_EQ(cost.select_ps(1000), ps_for(2.0 * 4096 * 6144 + 1000, 4.8e12));
  EXPECT_EQ(cost.attend_ps(256), ps_for(256.0 * kPage, 4.8e12));
}

TEST(LongContextModel, ManySequencesAreBoundByOperations) {
  const DecodeCost cost(ModelShape{}, GpuRates{}, 1000);
  EXPECT_EQ(cost.logits_ps(), ps_for(2.0 * 4096 * 128256 * 1000, 989e12));
}

TEST(LongContextDecode, WhereAllFitsEveryAccessHitsAndNothingMoves) {
  DecodeOptions options = small();
  options.gpu_bytes = UINT64_MAX;
  const DecodeResult result = Decode(options).run();
  EXPECT_EQ(result.hit_rate(), 1);
  EXPECT_EQ(result.attended_share, 0.25);
  EXPECT_EQ(result.digest_bytes, 4 * 128 * kPage / 16);
  EXPECT_EQ(result.counts.pcie_bytes + result.counts.nvme_bytes + result.counts.waiting_ps, 0U);
  EXPECT_EQ(result.counts.time_ps, 50 * compute_ps(options, 128.0 * kPage / 16, 32));
}

TEST(LongContextDecode, FullAttentionTakesItsBytesByTheBandwidth) {
  DecodeOptions options = small();
  options.selection.budget_tokens = options.context_tokens;
  options.warmup_steps = 1;
  options.steps = 3;
  const DecodeCounts counts = counts_of(options);
  EXPECT_EQ(counts.host_reads, 3U * 4 * 128) << "the least recently used of a cycle is what comes next";
  EXPECT_EQ(counts.pcie_bytes, 3 * 4 * 128 * kPage);
  const Picoseconds layer_ps = 8 * ps_for(16.0 * kPage, 55e9) + options.transfers.pcie.latency_ps;
  EXPECT_EQ(counts.waiting_ps, 3 * 4 * layer_ps);
  EXPECT_EQ(counts.time_ps, 3 * (4 * layer_ps + compute_ps(options, 0, 128)));
}

TEST(LongContextDecode, FullAttentionFromNvmeTakesTheDevicesTime) {
  DecodeOptions options = small();
  options.selection.budget_tokens = options.context_tokens;
  options.host_bytes = 4 * 64 * kPage;
  options.warmup_steps = 1;
  options.steps = 3;
  const DecodeCounts counts = counts_of(options);
  EXPECT_EQ(counts.nvme_reads, 3U * 4 * 128);
  // Eight runs on four devices; the last four end together and take turns on the PCIe link.
  const Picoseconds layer_ps = 2 * ps_for(16.0 * kPage, 7e9) + options.transfers.nvme_device.latency_ps +
                               4 * ps_for(16.0 * kPage, 55e9) + options.transfers.pcie.latency_ps;
  EXPECT_EQ(counts.waiting_ps, 3 * 4 * layer_ps);
}

TEST(LongContextDecode, BytesMovedAreMissesTimesPages) {
  DecodeOptions options = small();
  options.host_bytes = 4 * 96 * kPage;
  const DecodeCounts counts = counts_of(options);
  EXPECT_EQ(counts.accesses, 50U * 4 * 32);
  expect_every_access_counted_once(counts);
  EXPECT_GT(counts.gpu_hits, 0U);
  EXPECT_GT(counts.host_reads, 0U);
  EXPECT_GT(counts.nvme_reads, 0U);
  EXPECT_EQ(counts.pcie_bytes, (counts.host_reads + counts.nvme_reads) * kPage);
  EXPECT_EQ(counts.nvme_bytes, counts.nvme_reads * kPage);
  EXPECT_EQ(counts.time_ps, counts.waiting_ps + 50 * compute_ps(options, 128.0 * kPage / 16, 32));
}

TEST(LongContextDecode, MissesAreFreshPagesThatAreNotThereByChance) {
  DecodeOptions options = small();
  options.shape.layers = 8;
  options.context_tokens = 32768;
  options.gpu_bytes = 8 * 512 * kPage;
  options.warmup_steps = 200;
  options.steps = 200;
  // 23 of 32 pages are drawn, 5 of them anew; a quarter of the context is on the GPU.
  EXPECT_NEAR(Decode(options).run().hit_rate(), 1 - 5.0 / 32 * 0.75, 0.01);
}

TEST(LongContextDecode, EqualSeedsGiveEqualRunsAndOthersDoNot) {
  DecodeOptions options = small();
  options.host_bytes = 4 * 96 * kPage;
  options.is_prefetching = true;
  const DecodeCounts once = counts_of(options);
  const DecodeCounts again = counts_of(options);
  EXPECT_EQ(once.time_ps, again.time_ps);
  EXPECT_EQ(once.gpu_hits, again.gpu_hits);
  EXPECT_EQ(once.nvme_bytes, again.nvme_bytes);
  options.seed = 2;
  EXPECT_NE(counts_of(options).time_ps, once.time_ps);
}

TEST(LongContextDecode, AFasterLinkChangesTheTimeAlone) {
  DecodeOptions options = small();
  options.host_bytes = 4 * 96 * kPage;
  DecodeCounts slower = counts_of(options);
  for (int i = 0; i < 4; ++i) {
    options.transfers.pcie.bytes_per_s *= 2;
    options.transfers.nvme_device.bytes_per_s *= 2;
    const DecodeCounts faster = counts_of(options);
    EXPECT_LT(faster.time_ps, slower.time_ps);
    EXPECT_EQ(faster.pcie_bytes, slower.pcie_bytes);
    EXPECT_EQ(faster.gpu_hits, slower.gpu_hits);
    slower = faster;
  }
}

TEST(LongContextDecode, EveryPrefetchIsUsedLateWastedOrCancelled) {
  for (const double prediction : {0.0, 0.5, 1.0}) {
    DecodeOptions options = small();
    options.is_prefetching = true;
    options.prediction = prediction;
    const DecodeCounts counts = counts_of(options);
    expect_every_access_counted_once(counts);
    const std::uint64_t judged = counts.used + counts.late + counts.wasted + counts.cancelled;
    EXPECT_GT(counts.prefetched, 0U);
    EXPECT_LE(judged, counts.prefetched);
    EXPECT_LE(counts.prefetched - judged, 32U) << "of the first layer, for the step that did not come";
    const std::uint64_t demanded = counts.host_reads + counts.nvme_reads;
    EXPECT_GE(counts.pcie_bytes, (demanded + counts.used + counts.late) * kPage);
    EXPECT_LE(counts.pcie_bytes, (demanded + counts.prefetched - counts.cancelled) * kPage);
  }
}

TEST(LongContextDecode, ARightPrefetchHidesTransfersAndAWrongOneCostsLittle) {
  DecodeOptions options = small();
  options.warmup_steps = 100;
  const DecodeCounts without = counts_of(options);
  options.is_prefetching = true;
  options.prediction = 1;
  const DecodeCounts right = counts_of(options);
  EXPECT_GT(right.gpu_hits, without.gpu_hits);
  EXPECT_LT(right.waiting_ps, without.waiting_ps / 2);
  EXPECT_EQ(right.wasted, 0U);
  options.prediction = 0;
  const DecodeCounts wrong = counts_of(options);
  // Demand goes first: a layer waits for one move more at most. What a wrong page drives out is as unlikely to be needed.
  const Picoseconds one_move_a_layer = 50 * 4 * ps_for(kPage, 55e9);
  EXPECT_LE(wrong.waiting_ps, without.waiting_ps * 11 / 10 + one_move_a_layer);
}

TEST(LongContextDecode, WithoutRoomForItsSelectionALayerStillRuns) {
  DecodeOptions options = small();
  options.gpu_bytes = 8 * kPage;
  options.host_bytes = 8 * kPage;
  options.is_prefetching = true;
  const DecodeCounts counts = counts_of(options);
  expect_every_access_counted_once(counts);
  EXPECT_GT(counts.nvme_reads, 0U);
}

TEST(LongContextDecode, EachSequenceOfABatchHasItsOwnPages) {
  DecodeOptions options = small();
  const DecodeResult one = Decode(options).run();
  options.batch = 4;
  const DecodeResult four = Decode(options).run();
  EXPECT_EQ(four.counts.accesses, 4 * one.counts.accesses);
  EXPECT_EQ(four.attended_share, one.attended_share);
  EXPECT_NEAR(four.hit_rate(), one.hit_rate(), 0.02);
  EXPECT_LT(four.counts.time_ps, 4 * one.counts.time_ps) << "weights are read once";
}

TEST(LongContextDecode, EveryPolicyDecodes) {
  for (const Policy& policy : policies()) {
    if (policy.make == nullptr) continue;
    DecodeOptions options = small();
    options.policy = &policy;
    options.host_bytes = 4 * 96 * kPage;
    options.is_prefetching = true;
    const DecodeCounts counts = counts_of(options);
    expect_every_access_counted_once(counts);
    EXPECT_GT(counts.gpu_hits, counts.accesses / 2) << policy.name;
  }
}

}  // namespace
}  // namespace kvtier::sim
