// config.json of each family, as the Hub has them (what does not concern the cache left out), and bytes by hand.

#include <gtest/gtest.h>

#include "tests/unit/planner/shapes.h"
#include "tools/planner/hf_model.h"

namespace kvtier::test {
namespace {

plan::KvModel read(std::string_view text, std::string_view read_as = "") {
  const Result<plan::KvModel> model = plan::read_hf_config(text, read_as);
  EXPECT_TRUE(model.is_ok()) << model.status().message();
  return model.is_ok() ? model.value() : plan::KvModel{};
}

std::uint64_t bytes_of(const plan::KvModel& model, std::uint64_t tokens) {
  return plan::kv_bytes(model, workload(tokens, "bf16")).value().bytes;
}

std::string layers_of(const plan::KvModel& model, plan::LayerKind kind) {
  std::string text;
  for (const plan::LayerGroup& group : model.groups) {
    if (group.kv.kind == kind) text += (text.empty() ? "" : "; ") + plan::layer_ranges(group.layers);
  }
  return text;
}

// GQA: 2 x 32 x 8 x 128 x 2 = 131,072 a token.
TEST(HfFamilies, Llama3) {
  const plan::KvModel model = read(R"({"model_type": "llama", "torch_dtype": "bfloat16", "hidden_size": 4096,
    "max_position_embeddings": 131072, "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
    "attention_bias": false, "rope_scaling": {"factor": 8.0}, "vocab_size": 128256})");
  EXPECT_EQ(bytes_of(model, 1), 131'072U);
  EXPECT_EQ(model.dtype, "bfloat16");
  EXPECT_EQ(model.tokens_max, 131'072U);
  EXPECT_TRUE(model.notes.empty());
}

// MHA where num_key_value_heads is absent or null: 2 x 32 x 32 x 128 x 2 = 524,288.
TEST(HfFamilies, Llama1HasAsManyKvHeadsAsHeads) {
  EXPECT_EQ(bytes_of(read(R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
    "num_hidden_layers": 32})"),
                     1),
            524'288U);
  EXPECT_EQ(bytes_of(read(R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
    "num_hidden_layers": 32, "num_key_value_heads": null, "head_dim": null})"),
                     1),
            524'288U);
}

// head_dim is not hidden_size / heads where it is said: 2 x 28 x 16 x 256 x 2 = 458,752.
TEST(HfFamilies, GemmaSaysItsHeadDim) {
  EXPECT_EQ(
      bytes_of(
          read(R"({"model_type": "gemma", "hidden_size": 3072, "head_dim": 256, "num_attention_heads": 16,
    "num_hidden_layers": 28, "num_key_value_heads": 16})"),
          1),
      458'752U);
}

// GPT-2's names: 2 x 12 x 12 x 64 x 2 = 36,864; a file without dtype has none.
TEST(HfFamilies, Gpt2) {
  const plan::KvModel model = read(R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12,
    "n_positions": 1024, "n_ctx": 1024})");
  EXPECT_EQ(bytes_of(model, 1), 36'864U);
  EXPECT_EQ(model.tokens_max, 1024U);
  EXPECT_EQ(model.dtype, "");
}

// MQA: Falcon-7B 2 x 32 x 1 x 64 x 2 = 8,192; Falcon-40B 2 x 60 x 8 x 64 x 2 = 122,880; SantaCoder 2 x 24 x 1 x 128 x 2.
TEST(HfFamilies, MultiQuery) {
  EXPECT_EQ(bytes_of(read(R"({"model_type": "falcon", "hidden_size": 4544, "num_attention_heads": 71,
    "num_hidden_layers": 32, "multi_query": true, "new_decoder_architecture": false, "num_kv_heads": 71})"),
                     1),
            8'192U);
  EXPECT_EQ(bytes_of(read(R"({"model_type": "falcon", "hidden_size": 8192, "num_attention_heads": 128,
    "num_hidden_layers": 60, "multi_query": true, "new_decoder_architecture": true, "num_kv_heads": 8})"),
                     1),
            122'880U);
  EXPECT_EQ(bytes_of(read(R"({"model_type": "gpt_bigcode", "multi_query": true, "n_embd": 2048, "n_head": 16,
    "n_layer": 24})"),
                     1),
            12'288U);
  EXPECT_EQ(bytes_of(read(R"({"model_type": "gpt_bigcode", "multi_query": false, "n_embd": 2048, "n_head": 16,
    "n_layer": 24})"),
                     1),
            16 * 12'288U);
}

// MLA: DeepSeek-V3 61 x (512 + 64) x 2 = 70,272 a token, whatever its heads are.
TEST(HfFamilies, DeepSeekV3) {
  const plan::KvModel model = read(R"({"model_type": "deepseek_v3", "hidden_size": 7168, "kv_lora_rank": 512,
    "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "q_lora_rank": 1536, "num_attention_heads": 128,
    "num_key_value_heads": 128, "num_hidden_layers": 61, "num_nextn_predict_layers": 1, "torch_dtype": "bfloat16",
    "max_position_embeddings": 163840})");
  EXPECT_EQ(bytes_of(model, 1), 70'272U);
  EXPECT_EQ(model.groups[0].kv.rows, plan::RowKind::kLatent);
  EXPECT_EQ(model.notes.size(), 2U) << "one row, and the further layer is not counted";
}

// V3.2 has indexer keys of 128 beside: 61 x (576 + 128) x 2 = 85,888.
TEST(HfFamilies, DeepSeekV32CountsItsIndexer) {
  EXPECT_EQ(bytes_of(read(R"({"model_type": "deepseek_v32", "kv_lora_rank": 512, "qk_rope_head_dim": 64,
    "index_head_dim": 128, "index_n_heads": 64, "index_topk": 2048, "num_attention_heads": 128,
    "num_hidden_layers": 61})"),
                     1),
            85'888U);
}

// Mistral-7B v0.1: 131,072 a token, at most 4,096 of them; v0.2 says null; a file that says nothing has the class's 4,096.
TEST(HfFamilies, MistralsWindow) {
  const std::string rest = R"("model_type": "mistral", "hidden_size": 4096, "num_attention_heads": 32,
    "num_hidden_layers": 32, "num_key_value_heads": 8})";
  EXPECT_EQ(bytes_of(read(R"({"sliding_window": 4096, )" + rest), 32'768), 131'072ULL * 4096);
  EXPECT_EQ(bytes_of(read(R"({"sliding_window": null, )" + rest), 32'768), 131'072ULL * 32'768);
  EXPECT_EQ(bytes_of(read("{" + rest), 32'768), 131'072ULL * 4096);
}

// Qwen2.5-7B: 2 x 28 x 4 x 128 x 2 = 57,344; its sliding_window is off. On, layers from 20 on have it.
TEST(HfFamilies, QwensWindowHasASwitch) {
  const std::string rest = R"("model_type": "qwen2", "hidden_size": 3584, "num_attention_heads": 28,
    "num_hidden_layers": 28, "num_key_value_heads": 4, "sliding_window": 131072, "max_window_layers": 20)";
  EXPECT_EQ(bytes_of(read("{" + rest + R"(, "use_sliding_window": false})"), 200'000), 57'344ULL * 200'000);
  const plan::KvModel on = read("{" + rest + R"(, "use_sliding_window": true})");
  EXPECT_EQ(layers_of(on, plan::LayerKind::kFull), "0-19");
  EXPECT_EQ(layers_of(on, plan::LayerKind::kWindow), "20-27");
}

// gemma-2-2b: every second layer is full: 13 x 4096 a token each kind.
TEST(HfFamilies, Gemma2) {
  const plan::KvModel model = read(R"({"model_type": "gemma2", "hidden_size": 2304, "head_dim": 256,
    "num_attention_heads": 8, "num_hidden_layers": 26, "num_key_value_heads": 4, "sliding_window": 4096})");
  EXPECT_EQ(layers_of(model, plan::LayerKind::kWindow), "0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24");
  EXPECT_EQ(bytes_of(model, 8192), 13ULL * 4096 * (4096 + 8192));
}

// gemma-3-4b-it as it is: text_config leaves out what its class has (4 KV heads of 256), dtype is outside. 34 layers of
// 4,096 bytes a token, 5 of them full (5, 11, 17, 23, 29), 29 with 1,024 tokens.
TEST(HfFamilies, Gemma3IsNestedAndLeavesOutDefaults) {
  const plan::KvModel model = read(R"({"model_type": "gemma3", "torch_dtype": "bfloat16", "text_config": {
    "hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text", "num_hidden_layers": 34,
    "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024},
    "vision_config": {"num_hidden_layers": 27, "num_attention_heads": 16}})");
  EXPECT_EQ(layers_of(model, plan::LayerKind::kFull), "5, 11, 17, 23, 29");
  EXPECT_EQ(bytes_of(model, 131'072), 4096ULL * (5 * 131'072 + 29 * 1024));
  EXPECT_EQ(model.dtype, "bfloat16");
}

// gemma-3n-E4B: of 35 layers the last 15 use the KV of others; of the 20 every fifth is full.
TEST(HfFamilies, Gemma3nSharesKv) {
  const plan::KvModel model =
      read(R"({"model_type": "gemma3n_text", "head_dim": 256, "num_attention_heads": 8,
    "num_hidden_layers": 35, "num_key_value_heads": 2, "num_kv_shared_layers": 15, "sliding_window": 512})");
  EXPECT_EQ(layers_of(model, plan::LayerKind::kFull), "4, 9, 14, 19");
  EXPECT_EQ(layers_of(model, plan::LayerKind::kNone), "20-34");
  EXPECT_EQ(bytes_of(model, 1000), 2048ULL * (4 * 1000 + 16 * 512));
}

// gemma4: full layers have other heads: 5 of 30: 2 x 2 x 512 x 2 = 4,096 a token; windows 2 x 8 x 256 x 2 = 8,192.
TEST(HfFamilies, Gemma4HasOtherHeadsInFullLayers) {
  const plan::KvModel model = read(R"({"model_type": "gemma4_text", "head_dim": 256, "global_head_dim": 512,
    "num_attention_heads": 16, "num_hidden_layers": 30, "num_key_value_heads": 8, "num_global_key_value_heads": 2,
    "attention_k_eq_v": true, "num_kv_shared_layers": 0, "sliding_window": 1024})");
  EXPECT_EQ(bytes_of(model, 10'000), 5ULL * 4096 * 10'000 + 25ULL * 8192 * 1024);
}

// gpt-oss-20b: layer_types say it: 24 layers of 2 x 8 x 64 x 2 = 2,048, every second full.
TEST(HfFamilies, GptOssListsItsLayers) {
  std::string types;
  for (int i = 0; i < 24; ++i)
    types +=
        std::string(i == 0 ? "" : ", ") + (i % 2 == 0 ? R"("sliding_attention")" : R"("full_attention")");
  const std::string rest =
      R"("model_type": "gpt_oss", "head_dim": 64, "hidden_size": 2880, "num_attention_heads": 64,
    "num_hidden_layers": 24, "num_key_value_heads": 8, "sliding_window": 128})";
  for (const std::string& text : {R"({"layer_types": [)" + types + "], " + rest, "{" + rest})
    EXPECT_EQ(bytes_of(read(text), 4096), 2048ULL * 12 * (4096 + 128));
}

// Llama 4 Scout: 48 layers of 2 x 8 x 128 x 2 = 4,096; every fourth is full, the others keep a chunk of 8,192.
TEST(HfFamilies, Llama4KeepsChunks) {
  const std::string head = R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text",
    "attention_chunk_size": 8192, "head_dim": 128, "hidden_size": 5120, "num_attention_heads": 40,
    "num_hidden_layers": 48, "num_key_value_heads": 8, "no_rope_layers": [)";
  std::string rope;
  for (int i = 0; i < 48; ++i) rope += std::string(i == 0 ? "" : ", ") + ((i + 1) % 4 == 0 ? "0" : "1");
  for (const std::string& list : {rope, std::string()}) {
    const plan::KvModel model = read(head + list + R"(], "torch_dtype": "bfloat16"}})");
    EXPECT_EQ(bytes_of(model, 100'000), 4096ULL * (12 * 100'000 + 36 * 8192));
    EXPECT_EQ(model.groups[0].kv.kind, plan::LayerKind::kChunk);
  }
}

// Qwen2.5-VL: flat in older files, text_config in newer.
TEST(HfFamilies, QwenVlBothWays) {
  const std::string text = R"("hidden_size": 3584, "num_attention_heads": 28, "num_hidden_layers": 28,
    "num_key_value_heads": 4, "use_sliding_window": false, "sliding_window": 32768)";
  EXPECT_EQ(
      bytes_of(read(R"({"model_type": "qwen2_5_vl", )" + text + R"(, "vision_config": {"depth": 32}})"), 1),
      57'344U);
  EXPECT_EQ(
      bytes_of(read(R"({"model_type": "qwen2_5_vl", "text_config": {"model_type": "qwen2_5_vl_text", )" +
                    text + "}}"),
               1),
      57'344U);
}

// Jamba: attention in layers 4, 12, 20, 28 of 32: 4 x 2 x 8 x 128 x 2 = 16,384.
TEST(HfFamilies, JambaSaysWhichLayersHaveNoKv) {
  const plan::KvModel model = read(R"({"model_type": "jamba", "attn_layer_offset": 4, "attn_layer_period": 8,
    "expert_layer_period": 2, "hidden_size": 4096, "mamba_d_state": 16, "num_attention_heads": 32,
    "num_hidden_layers": 32, "num_key_value_heads": 8})");
  EXPECT_EQ(layers_of(model, plan::LayerKind::kFull), "4, 12, 20, 28");
  EXPECT_EQ(layers_of(model, plan::LayerKind::kNone), "0-3, 5-11, 13-19, 21-27, 29-31");
  EXPECT_EQ(model.groups[0].kv.why, "mamba: a state a sequence");
  EXPECT_EQ(bytes_of(model, 1), 16'384U);
}

// Qwen3-Next: 12 of 48 layers: 12 x 2 x 2 x 256 x 2 = 24,576.
TEST(HfFamilies, Qwen3Next) {
  EXPECT_EQ(bytes_of(read(R"({"model_type": "qwen3_next", "head_dim": 256, "full_attention_interval": 4,
    "hidden_size": 2048, "linear_num_value_heads": 32, "num_attention_heads": 16, "num_hidden_layers": 48,
    "num_key_value_heads": 2})"),
                     1),
            24'576U);
}

// Nemotron-H writes Infinity, which is no JSON, and a letter a layer. One * of 6: 2 x 8 x 128 x 2 = 4,096.
TEST(HfFamilies, NemotronH) {
  const plan::KvModel model =
      read(R"({"model_type": "nemotron_h", "hybrid_override_pattern": "M-M*-E", "head_dim": 128,
    "num_attention_heads": 32, "num_hidden_layers": 6, "num_key_value_heads": 8, "time_step_limit": [0.0, Infinity],
    "name": "a \"quoted\" Infinity"})");
  EXPECT_EQ(layers_of(model, plan::LayerKind::kFull), "3");
  EXPECT_EQ(bytes_of(model, 1), 4'096U);
}

TEST(HfFamilies, OtherHybrids) {
  // granite-4: by list; 2 x 4 x 64 x 2 = 1,024 in one of three.
  EXPECT_EQ(bytes_of(read(R"({"model_type": "granitemoehybrid", "hidden_size": 768, "num_attention_heads": 12,
    "num_hidden_layers": 3, "num_key_value_heads": 4, "layer_types": ["mamba", "mamba", "attention"]})"),
                     1),
            1'024U);
  // bamba and lfm2: by the indices of attention.
  EXPECT_EQ(bytes_of(read(R"({"model_type": "bamba", "hidden_size": 4096, "num_attention_heads": 32,
    "num_hidden_layers": 32, "num_key_value_heads": 8, "attn_layer_indices": [9, 18, 27]})"),
                     1),
            3U * 4096);
  EXPECT_EQ(bytes_of(read(R"({"model_type": "lfm2", "hidden_size": 1024, "num_attention_heads": 16,
    "num_hidden_layers": 4, "num_key_value_heads": 8, "full_attn_idxs": [2]})"),
                     1),
            2'048U);
  // falcon_h1: every layer has both.
  const plan::KvModel both = read(R"({"model_type": "falcon_h1", "hidden_size": 1024, "head_dim": 64,
    "num_attention_heads": 8, "num_hidden_layers": 36, "num_key_value_heads": 2})");
  EXPECT_EQ(bytes_of(both, 1), 36U * 512);
  ASSERT_EQ(both.notes.size(), 1U);
  EXPECT_NE(both.notes[0].find("mamba state"), std::string::npos);
}

// Bare figures mean what they mean for Llama, and that is said.
TEST(HfFamilies, FiguresWithoutATypeAreReadAndNoted) {
  const plan::KvModel model =
      read(R"({"num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8,
    "hidden_size": 8192, "torch_dtype": "float16", "output_hidden_states": false, "use_cache": true})");
  EXPECT_EQ(bytes_of(model, 131'072), 40ULL << 30);
  ASSERT_EQ(model.notes.size(), 1U);
  EXPECT_NE(model.notes[0].find("no model_type"), std::string::npos);
}

TEST(HfFamilies, AnotherTypeMayBeNamed) {
  EXPECT_EQ(bytes_of(read(R"({"model_type": "mynewllama", "hidden_size": 4096, "num_attention_heads": 32,
    "num_hidden_layers": 32, "num_key_value_heads": 8})",
                          "llama"),
                     1),
            131'072U);
}

TEST(HfFamilies, AQuantisedCacheIsNoted) {
  const plan::KvModel model = read(R"({"model_type": "llama", "hidden_size": 128, "num_attention_heads": 1,
    "num_hidden_layers": 1, "quantization_config": {"kv_cache_scheme": {"num_bits": 8, "type": "float"}}})");
  ASSERT_EQ(model.notes.size(), 1U);
  EXPECT_NE(model.notes[0].find("--dtype"), std::string::npos);
}

}  // namespace
}  // namespace kvtier::test
