// Bytes of a block in each codec, against the documented bytes of a row at 128 values (raw 256): INT8 2 + 128, affine
// INT4 4 + 64, INT4 K 64 + 4 x 128 / G and V 72.

#include "tools/planner/codec_size.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/planner/shapes.h"

namespace kvtier::test {
namespace {

using plan::Codec;

plan::CodecSize size_of(Codec codec, const plan::KvModel& model, std::string_view type,
                        std::uint64_t tokens = 16) {
  const auto sizes = plan::codec_sizes(model, dtype(type), tokens).value();
  return *std::ranges::find(sizes, codec, &plan::CodecSize::codec);
}

std::uint64_t bytes_of(Codec codec, const plan::KvModel& model, std::string_view type,
                       std::uint64_t tokens = 16) {
  const plan::CodecSize size = size_of(codec, model, type, tokens);
  EXPECT_EQ(size.refusal, "");
  return size.size.bytes;
}

// Llama-3.1-8B: 32 layers x 8 heads x 16 tokens x K and V = 8,192 rows.
const plan::KvModel& llama() {
  static const plan::KvModel model = model_of({32, 8});
  return model;
}
constexpr std::uint64_t kRows = 8192;

TEST(CodecSize, RawIsTwoMiB) {
  const plan::CodecSize raw = size_of(Codec::kRaw, llama(), "f16");
  EXPECT_EQ(raw.size.bytes, kRows * 256);
  EXPECT_EQ(raw.size.bytes, 2U << 20);
  EXPECT_EQ(raw.size.slot_bytes, 2U << 20);
  EXPECT_EQ(raw.size.record_bytes, (2U << 20) + 4096) << "a header page of its own";
  EXPECT_EQ(plan::written_bytes(raw.size), raw.size.record_bytes + 120) << "and an entry in the index";
  EXPECT_TRUE(plan::is_in_build(Codec::kRaw));
  EXPECT_FALSE(plan::is_in_build(Codec::kI8t));
}

TEST(CodecSize, RowsOf128Values) {
  EXPECT_EQ(bytes_of(Codec::kI8t, llama(), "f16"), kRows * 130);
  EXPECT_EQ(bytes_of(Codec::kI4a, llama(), "bf16"), kRows * 68);
  // Half of the rows are K: 64 + 4 x 128 / 16 = 96; V: 72.
  EXPECT_EQ(bytes_of(Codec::kI4c, llama(), "f16"), kRows / 2 * (96 + 72));
  // Blocks of 64 tokens have four times the rows, and K of 64 + 4 x 128 / 64 = 72.
  EXPECT_EQ(bytes_of(Codec::kI4c, llama(), "f16", 64), 4 * kRows / 2 * (72 + 72));
  EXPECT_EQ(bytes_of(Codec::kI4c, llama(), "f16", 48), 3 * kRows / 2 * (96 + 72)) << "64 does not divide 48";
}

// 16 tokens: 4 in 8 bits, 8 in 4, 4 in 2, each row with scale and min; 512 rows of K and V a token; a map of 2 bits a
// token is 4 bytes, which pads the metadata to the next 16.
TEST(CodecSize, MixedClasses) {
  const plan::CodecSize mix = size_of(Codec::kMix, llama(), "f16");
  EXPECT_EQ(mix.size.bytes, kRows * 4 + 16 + 512 * (4 * 128 + 8 * 64 + 4 * 32));
  EXPECT_EQ(mix.exactness, plan::Exactness::kAssumed);
  EXPECT_NE(mix.note.find("4, 8, 4"), std::string::npos) << mix.note;
}

// One flag a layer's K and one a layer's V: never larger than that, and no guess how much smaller.
TEST(CodecSize, TheLosslessOneIsABound) {
  const plan::CodecSize xpl = size_of(Codec::kXpl, llama(), "bf16");
  EXPECT_EQ(xpl.size.bytes, kRows * 256 + 32 * 2);
  EXPECT_EQ(xpl.exactness, plan::Exactness::kBound);
  EXPECT_NE(size_of(Codec::kXpl, llama(), "f16").refusal.find("bf16"), std::string::npos);
}

// d = 80: rows of 2 + 80, 4 + 40; V in groups of 64 and 16; nothing is padded but the metadata of a part, to 16 bytes:
// one layer, one head, 3 tokens, K and V: 6 rows x 2 = 12 -> 16.
TEST(CodecSize, DimensionsThatAreNoPowersOfTwo) {
  const plan::KvModel model = model_of({1, 1, 80, 80});
  EXPECT_EQ(bytes_of(Codec::kI8t, model, "f16", 3), 16U + 6 * 80);
  EXPECT_EQ(bytes_of(Codec::kI4a, model, "f16", 3), 32U + 6 * 40);
  // K: 80 channels x 1 group x 4 = 320; V: 16 tokens x 2 groups x 4 = 128; codes 32 rows x 40.
  EXPECT_EQ(bytes_of(Codec::kI4c, model, "f16"), 448U + 32 * 40);
  EXPECT_NE(size_of(Codec::kI4c, model, "f16", 3).refusal.find("do not divide a block of 3"),
            std::string::npos);
}

TEST(CodecSize, KeysAndValuesOfDifferentLengths) {
  const plan::KvModel model = model_of({1, 1, 192, 128});
  EXPECT_EQ(bytes_of(Codec::kI8t, model, "f16"), 32U * 2 + 16 * (192 + 128));
}

// What the engine has packed, and rows that are no K and V of heads, stay raw.
TEST(CodecSize, RefusalsSayWhy) {
  EXPECT_NE(size_of(Codec::kI8t, llama(), "fp8").refusal.find("f8_e4m3"), std::string::npos);
  plan::KvModel latent{.name = "mla"};
  latent.add(0, {.rows = plan::RowKind::kLatent, .heads = 1, .key_dim = 576});
  EXPECT_NE(size_of(Codec::kI4a, latent, "bf16").refusal.find("latent"), std::string::npos);
  EXPECT_EQ(bytes_of(Codec::kXpl, latent, "bf16"), 16U * 576 * 2 + 1);
}

// Two kinds of layers are two parts: the second begins at a multiple of 64.
TEST(CodecSize, PartsAreAligned) {
  plan::KvModel model = model_of({1, 1, 1, 1});
  model.add(1, {.kind = plan::LayerKind::kWindow, .window = 8, .heads = 1, .key_dim = 8, .value_dim = 8});
  EXPECT_EQ(size_of(Codec::kRaw, model, "f16", 1).size.bytes, 64U + 32);
}

TEST(CodecSize, ABlockThatNoSpecMayHaveIsRefused) {
  const auto sizes = plan::codec_sizes(model_of({128, 128}), dtype("f32"), 4096);
  ASSERT_FALSE(sizes.is_ok());
  EXPECT_NE(sizes.status().message().find("lower --block-tokens"), std::string::npos)
      << sizes.status().message();
}

}  // namespace
}  // namespace kvtier::test
