// The plain formula, by hand: 2 x layers x kv_heads x tokens x head_dim x bytes_per_value x batch.

#include "tools/planner/kv_bytes.h"

#include <gtest/gtest.h>

#include "tests/unit/planner/shapes.h"
#include "tools/planner/amount.h"

namespace kvtier::test {
namespace {

using plan::kv_bytes;

std::uint64_t bytes_of(const plan::KvModel& model, const plan::Workload& workload) {
  return kv_bytes(model, workload).value().bytes;
}

// 2 x 80 x 64 x 131,072 x 128 x 2 = 343,597,383,680 = 320 x 2^30; with 8 heads an eighth.
TEST(KvBytes, EightyLayersOf64HeadsAre320GiBAndOf8HeadsAre40) {
  EXPECT_EQ(bytes_of(model_of({80, 64}), workload(131'072)), 343'597'383'680U);
  EXPECT_EQ(bytes_of(model_of({80, 8}), workload(131'072)), 40ULL << 30);
}

// What a widely copied 274 GB is: 2^38 bytes, which 64 layers have and 80 do not.
TEST(KvBytes, SixtyFourLayersAre274GB) {
  EXPECT_EQ(bytes_of(model_of({64, 64}), workload(131'072)), 274'877'906'944U);
}

// MQA: 2 x 32 x 1 x 2048 x 64 x 2 x 3 = 50,331,648.
TEST(KvBytes, MultiQueryAndABatch) {
  EXPECT_EQ(bytes_of(model_of({32, 1, 64, 64}), workload(2048, "bf16", 3)), 50'331'648U);
}

// MLA: 61 x (512 + 64) x 2 = 70,272 bytes a token, without the factor 2.
TEST(KvBytes, LatentRowsHaveNoFactorTwo) {
  plan::KvModel model{.name = "deepseek"};
  for (std::uint32_t i = 0; i < 61; ++i)
    model.add(i, {.rows = plan::RowKind::kLatent, .heads = 1, .key_dim = 576});
  EXPECT_EQ(kv_bytes(model, workload(1, "bf16")).value().bytes_per_token, 70'272U);
}

// K of 192 and V of 128: 10 layers x 4 heads x (192 + 128) x 2 bytes x 100 tokens = 2,560,000.
TEST(KvBytes, KeysAndValuesMayDiffer) {
  EXPECT_EQ(bytes_of(model_of({10, 4, 192, 128}), workload(100)), 2'560'000U);
}

// A window keeps min(tokens, window): 2 x 26 x 4 x 256 x 2 = 106,496 bytes a token, times 1,024.
TEST(KvBytes, WindowsKeepTheirTokensAndNoMore) {
  const plan::KvModel model = model_of({26, 4, 256, 256}, plan::LayerKind::kWindow, 1024);
  const plan::KvBytes sizes = kv_bytes(model, workload(8192)).value();
  EXPECT_EQ(sizes.bytes, 106'496U * 1024);
  EXPECT_EQ(sizes.bytes_without_windows, 106'496U * 8192);
  EXPECT_EQ(bytes_of(model, workload(1000)), 106'496U * 1000);
}

TEST(KvBytes, LayersWithoutKvTakeNothing) {
  plan::KvModel model = model_of({2, 8});
  model.add(2, {.kind = plan::LayerKind::kNone, .why = "mamba"});
  EXPECT_EQ(bytes_of(model, workload(10)), 2U * 2 * 8 * 128 * 2 * 10);
  EXPECT_EQ(kv_bytes(model, workload(10)).value().group_bytes, (std::vector<std::uint64_t>{81'920, 0}));
  EXPECT_TRUE(model.check().is_ok());
}

TEST(KvBytes, AModelWithoutAnyKvIsRefused) {
  plan::KvModel model{.name = "mamba"};
  model.add(0, {.kind = plan::LayerKind::kNone, .why = "mamba"});
  EXPECT_EQ(model.check().code(), Code::kUnsupported);
}

// q8_0 has 32 values in 34 bytes: a row of 128 has 136; of 80 it has no whole groups.
TEST(KvBytes, PackedTypesCountTheirScales) {
  EXPECT_EQ(bytes_of(model_of({1, 1}), workload(1, "q8_0")), 2U * 136);
  EXPECT_EQ(bytes_of(model_of({1, 1}), workload(1, "q4_0")), 2U * 72);
  EXPECT_EQ(bytes_of(model_of({1, 1}), workload(1, "fp8")), 2U * 128);
  EXPECT_EQ(bytes_of(model_of({1, 1}), workload(1, "int4")), 2U * 64);
  const Result<plan::KvBytes> odd = kv_bytes(model_of({1, 1, 80, 80}), workload(1, "q8_0"));
  ASSERT_FALSE(odd.is_ok());
  EXPECT_NE(odd.status().message().find("a row of 80 values is no whole number of groups of 32"),
            std::string::npos)
      << odd.status().message();
}

TEST(KvBytes, WhatDoesNotFit64BitsIsRefusedWhereverItHappens) {
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  const std::vector<std::pair<plan::KvModel, plan::Workload>> cases = {
      {model_of({80, 64}), workload(kMost)},
      {model_of({80, 64}), workload(1 << 20, "f16", kMost)},
      {model_of({1, kMost}), workload(1)},
      {model_of({1, 1, kMost, 1}), workload(1)},
      {model_of({1, 1, kMost / 2, kMost / 2}), workload(1)},
      {model_of({2, 1, 1, 1}, plan::LayerKind::kWindow, 1), workload(kMost)}};
  for (const auto& [model, asked] : cases) {
    const Result<plan::KvBytes> sizes = kv_bytes(model, asked);
    ASSERT_FALSE(sizes.is_ok());
    EXPECT_EQ(sizes.code(), Code::kInvalid);
    EXPECT_NE(sizes.status().message().find("2^64 - 1 bytes"), std::string::npos) << sizes.status().message();
  }
}

TEST(Amount, RoundsUpWithinItsBounds) {
  EXPECT_EQ(plan::rounded_up(1, 64).value("").value(), 64U);
  EXPECT_EQ(plan::rounded_up(64, 64).value("").value(), 64U);
  EXPECT_FALSE(plan::rounded_up(~std::uint64_t{0}, 64).value("it").is_ok());
}

TEST(DType, SpellingsOfModelFilesAndEnginesAreOne) {
  EXPECT_EQ(dtype("torch.float16").name, "f16");
  EXPECT_EQ(dtype("half").name, "f16");
  EXPECT_EQ(dtype("bfloat16").name, "bf16");
  EXPECT_EQ(dtype("f8_e4m3").name, dtype("fp8_e4m3").name);
  const Result<plan::DType> none = plan::find_dtype("auto");
  ASSERT_FALSE(none.is_ok());
  EXPECT_NE(none.status().message().find("\"auto\""), std::string::npos);
  EXPECT_NE(none.status().message().find("bf16"), std::string::npos);
}

TEST(KvModel, LayersAreNamedInRanges) {
  EXPECT_EQ(plan::layer_ranges({0, 1, 2, 5, 7, 8}), "0-2, 5, 7-8");
  EXPECT_EQ(plan::layer_ranges({}), "");
}

}  // namespace
}  // namespace kvtier::test
