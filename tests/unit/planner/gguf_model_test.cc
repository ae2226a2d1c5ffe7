// GGUF headers of each kind of architecture, and bytes by hand.

#include "tools/planner/gguf_model.h"

#include <gtest/gtest.h>

#include "tests/unit/planner/gguf_bytes.h"
#include "tests/unit/planner/shapes.h"

namespace kvtier::test {
namespace {

// Keys of an architecture, without its name before each.
class Model {
 public:
  explicit Model(std::string arch) : arch_(std::move(arch)) { file_.text("general.architecture", arch_); }
  Model& with(std::string_view key, std::uint32_t value) {
    file_.u32(arch_ + "." + std::string(key), value);
    return *this;
  }
  Model& with(std::string_view key, const std::vector<std::uint32_t>& values) {
    file_.u32s(arch_ + "." + std::string(key), values);
    return *this;
  }
  Model& with_flags(std::string_view key, const std::vector<bool>& values) {
    file_.bools(arch_ + "." + std::string(key), values);
    return *this;
  }
  [[nodiscard]] Result<plan::KvModel> read(std::string_view read_as = "") const {
    return plan::read_gguf_model(read_gguf(file_.bytes()).value(), read_as);
  }

 private:
  const std::string arch_;
  GgufBytes file_;
};

std::uint64_t bytes_of(const Model& file, std::uint64_t tokens) {
  const Result<plan::KvModel> model = file.read();
  EXPECT_TRUE(model.is_ok()) << model.status().message();
  return model.is_ok() ? plan::kv_bytes(model.value(), workload(tokens)).value().bytes : 0;
}

void expect_refusal(const Model& file, std::string_view says) {
  const Result<plan::KvModel> model = file.read();
  ASSERT_FALSE(model.is_ok()) << says;
  EXPECT_NE(model.status().message().find(says), std::string::npos) << says << "\n"
                                                                    << model.status().message();
}

Model llama() {
  Model file("llama");
  return file.with("block_count", 32).with("attention.head_count", 32).with("embedding_length", 4096);
}

// 2 x 32 x 8 x 128 x 2 = 131,072; without head_count_kv as many as heads; lengths default to embedding / heads.
TEST(GgufModel, Llama) {
  EXPECT_EQ(bytes_of(llama().with("attention.head_count_kv", 8), 1), 131'072U);
  EXPECT_EQ(bytes_of(llama(), 1), 4 * 131'072U);
  const plan::KvModel model = llama().with("context_length", 8192).read().value();
  EXPECT_EQ(model.tokens_max, 8192U);
  EXPECT_EQ(model.dtype, "f16");
  ASSERT_EQ(model.notes.size(), 1U);
  EXPECT_NE(model.notes[0].find("llama.cpp's default"), std::string::npos);
}

// 32 x 8 x (192 + 64) x 2 = 131,072: the same sum of other lengths.
TEST(GgufModel, KeyAndValueLengthsMayDiffer) {
  const plan::KvModel model = llama()
                                  .with("attention.head_count_kv", 8)
                                  .with("attention.key_length", 192)
                                  .with("attention.value_length", 64)
                                  .read()
                                  .value();
  EXPECT_EQ(model.groups[0].kv.key_dim, 192U);
  EXPECT_EQ(model.groups[0].kv.value_dim, 64U);
  EXPECT_EQ(plan::kv_bytes(model, workload(1)).value().bytes, 131'072U);
}

// gemma3-270m: 18 layers of 2 x 1 x 256 x 2 = 1,024; full are 5, 11, 17, the others keep 512.
TEST(GgufModel, Gemma3) {
  Model file("gemma3");
  file.with("block_count", 18).with("embedding_length", 640).with("attention.head_count", 4);
  file.with("attention.head_count_kv", 1)
      .with("attention.key_length", 256)
      .with("attention.value_length", 256);
  EXPECT_EQ(bytes_of(file, 2048), 18ULL * 1024 * 2048) << "no window is told";
  file.with("attention.sliding_window", 512);
  EXPECT_EQ(bytes_of(file, 2048), 1024ULL * (3 * 2048 + 15 * 512));
}

// The pattern of the file goes before the architecture's, as a list or as a period.
TEST(GgufModel, PatternsOfTheFile) {
  Model file("gpt-oss");
  file.with("block_count", 4).with("embedding_length", 128).with("attention.head_count", 2);
  file.with("attention.sliding_window", 128);
  Model list = file;
  EXPECT_EQ(bytes_of(file, 1000), 512ULL * (2 * 1000 + 2 * 128)) << "every second";
  EXPECT_EQ(bytes_of(list.with_flags("attention.sliding_window_pattern", {true, true, true, false}), 1000),
            512ULL * (1000 + 3 * 128));
  EXPECT_EQ(bytes_of(file.with("attention.sliding_window_pattern", 4), 1000), 512ULL * (1000 + 3 * 128));
}

// gemma4: windows have other lengths, the last layers use the KV of earlier ones. Layer 1 is full: 2 x 2 x 512 x 2 =
// 4,096; layer 0: 2 x 2 x 256 x 2 = 2,048 in 100 tokens; layers 2 and 3 nothing.
TEST(GgufModel, Gemma4) {
  Model file("gemma4");
  file.with("block_count", 4).with("attention.head_count", 8).with("attention.head_count_kv", 2);
  file.with("attention.key_length", 512)
      .with("attention.value_length", 512)
      .with("attention.key_length_swa", 256);
  file.with("attention.value_length_swa", 256).with("attention.sliding_window", 100);
  file.with("attention.shared_kv_layers", 2);
  expect_refusal(file, "sliding_window_pattern is no list of layers");
  file.with_flags("attention.sliding_window_pattern", {true, false, true, false});
  EXPECT_EQ(bytes_of(file, 1000), 4096ULL * 1000 + 2048ULL * 100);
}

TEST(GgufModel, Gemma3nMustSayHowManyLayersShare) {
  Model file("gemma3n");
  file.with("block_count", 30).with("attention.head_count", 8).with("attention.key_length", 256);
  file.with("attention.value_length", 256).with("attention.sliding_window", 512);
  expect_refusal(file, "shared_kv_layers is missing");
}

TEST(GgufModel, Llama4KeepsChunks) {
  Model file("llama4");
  file.with("block_count", 8).with("embedding_length", 128).with("attention.head_count", 1);
  const plan::KvModel model = file.read().value();
  EXPECT_EQ(model.groups[0].kv.kind, plan::LayerKind::kChunk);
  EXPECT_EQ(bytes_of(file, 10'000), 512ULL * (2 * 10'000 + 6 * 8192));
  EXPECT_EQ(bytes_of(file.with("attention.sliding_window", 0), 10'000), 512ULL * 8 * 10'000);
}

// A converted DeepSeek: 61 x 576 x 2 = 70,272 without V; layer 61 predicts a further token.
TEST(GgufModel, LatentRows) {
  Model file("deepseek2");
  file.with("block_count", 62).with("nextn_predict_layers", 1).with("attention.head_count", 128);
  file.with("attention.head_count_kv", 1)
      .with("attention.key_length", 576)
      .with("attention.value_length", 512);
  file.with("attention.kv_lora_rank", 512).with("rope.dimension_count", 64);
  Model old = file;
  file.with("attention.key_length_mla", 192).with("attention.value_length_mla", 128);
  EXPECT_EQ(bytes_of(file, 1), 70'272U);
  EXPECT_EQ(bytes_of(old, 1), 61U * (576 + 512) * 2);
  EXPECT_NE(old.read().value().notes[1].find("converting the model anew"), std::string::npos);
}

// Hybrids: 0 KV heads in the list, or an interval, or a list of what is recurrent.
TEST(GgufModel, LayersWithoutKv) {
  Model jamba("jamba");
  jamba.with("block_count", 4).with("attention.head_count", 32).with("embedding_length", 4096);
  jamba.with("attention.head_count_kv", std::vector<std::uint32_t>{0, 8, 0, 8});
  EXPECT_EQ(bytes_of(jamba, 1), 2U * 4096);
  Model qwen("qwen3next");
  qwen.with("block_count", 8).with("attention.head_count", 16).with("attention.head_count_kv", 2);
  qwen.with("attention.key_length", 256).with("attention.value_length", 256);
  Model listed = qwen;
  EXPECT_EQ(bytes_of(qwen, 1), 2U * 2048);
  EXPECT_EQ(
      bytes_of(listed.with("attention.recurrent_layers", std::vector<std::uint32_t>{1, 1, 1, 1, 1, 1, 1, 0}),
               1),
      2'048U);
  EXPECT_EQ(bytes_of(qwen.with("full_attention_interval", 2), 1), 4U * 2048);
}

TEST(GgufModel, AWindowThatLlamaCppIgnoresIsNoted) {
  const plan::KvModel model = llama().with("attention.sliding_window", 4096).read().value();
  EXPECT_EQ(model.groups[0].kv.kind, plan::LayerKind::kFull);
  EXPECT_NE(model.notes[1].find("keeps every token"), std::string::npos);
}

TEST(GgufModel, WhatIsNotUnderstoodIsRefused) {
  expect_refusal(Model("rwkv7"), "architecture \"rwkv7\" is not known");
  expect_refusal(Model("llama"), "llama.block_count is missing");
  expect_refusal(Model("llama").with("block_count", 0), "block_count is 0");
  expect_refusal(Model("llama").with("block_count", 70'000), "1 to 4096 layers");
  expect_refusal(Model("llama").with("block_count", 2), "embedding_length is missing");
  expect_refusal(
      Model("llama").with("block_count", 2).with("embedding_length", 100).with("attention.head_count", 3),
      "embedding_length 100 is no multiple of the 3 heads");
  expect_refusal(
      Model("llama").with("block_count", 2).with("embedding_length", 100).with("attention.head_count", 0),
      "no multiple of the 0 heads");
  expect_refusal(llama().with("attention.head_count_kv", std::vector<std::uint32_t>{8, 8}),
                 "no list of 32 whole numbers");
  expect_refusal(llama().with("attention.head_count_kv", std::vector<std::uint32_t>(32, 0)),
                 "no layer of llama keeps anything");
  expect_refusal(llama().with("attention.key_length", 0), "is 0");
  expect_refusal(llama().with("nextn_predict_layers", 32), "leave no layer");
  const plan::GgufHeader empty = read_gguf(GgufBytes().bytes()).value();
  EXPECT_NE(plan::read_gguf_model(empty, "").status().message().find("general.architecture is missing"),
            std::string::npos);
}

TEST(GgufModel, AnotherArchitectureMayBeNamed) {
  Model file("mynewllama");
  file.with("block_count", 32).with("attention.head_count", 32).with("embedding_length", 4096);
  expect_refusal(file, "--read-as");
  EXPECT_EQ(plan::kv_bytes(file.read("llama").value(), workload(1)).value().bytes, 524'288U);
}

// A negative count, a text where a number is due.
TEST(GgufModel, NumbersThatMakeNoSense) {
  GgufBytes file;
  file.text("general.architecture", "llama").number("llama.block_count", GgufType::kI32, 0xffffffff);
  EXPECT_NE(plan::read_gguf_model(read_gguf(file.bytes()).value(), "")
                .status()
                .message()
                .find("llama.block_count is no whole number"),
            std::string::npos);
  GgufBytes large;
  large.text("general.architecture", "llama").number("llama.block_count", GgufType::kU64, ~std::uint64_t{0});
  EXPECT_FALSE(plan::read_gguf_model(read_gguf(large.bytes()).value(), "").is_ok());
}

}  // namespace
}  // namespace kvtier::test
