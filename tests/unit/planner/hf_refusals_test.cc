// What is not understood is refused, with what it is: a guess would be a wrong figure.

#include <gtest/gtest.h>

#include "tools/planner/hf_model.h"

namespace kvtier::test {
namespace {

std::string refusal(std::string_view text, std::string_view read_as = "") {
  const Result<plan::KvModel> model = plan::read_hf_config(text, read_as);
  return model.is_ok() ? "" : model.status().message();
}

void expect_refusal(std::string_view text, std::string_view says) {
  const std::string message = refusal(text);
  EXPECT_NE(message.find(says), std::string::npos) << says << "\n" << message << "\n" << text;
}

TEST(HfRefusals, WhatIsNoConfig) {
  expect_refusal("", "it is no JSON");
  expect_refusal("{", "it is no JSON");
  expect_refusal("[1]", "no object");
  expect_refusal("{}", "num_hidden_layers or n_layer is missing");
  expect_refusal(R"({"model_type": 7})", "model_type is 7, not a text");
  expect_refusal(std::string(100'000, '['), "it is no JSON");
}

TEST(HfRefusals, TypesThatAreNotKnown) {
  for (const std::string_view type :
       {"mamba", "rwkv", "t5", "bert", "mllama_text_model", "zamba2", "nobodys"}) {
    const std::string message =
        refusal(R"({"num_hidden_layers": 2, "model_type": ")" + std::string(type) + "\"}");
    EXPECT_NE(message.find("model_type \"" + std::string(type) + "\" is not known"), std::string::npos)
        << message;
    EXPECT_NE(message.find("--read-as"), std::string::npos) << message;
    EXPECT_NE(message.find("--layers"), std::string::npos) << message;
  }
}

// A llama that says something of windows is none that is known.
TEST(HfRefusals, KeysThatWouldChangeTheAnswer) {
  const std::string llama = R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
    "num_hidden_layers": 2, "num_key_value_heads": 8, )";
  EXPECT_EQ(refusal(llama + R"("sliding_window": null})"), "");
  expect_refusal(llama + R"("sliding_window": 4096})",
                 "sliding_window changes what is cached, and is not understood for llama");
  expect_refusal(llama + R"("kv_lora_rank": 512})", "kv_lora_rank");
  expect_refusal(llama + R"("num_kv_shared_layers": 1})", "num_kv_shared_layers");
  expect_refusal(llama + R"("layer_types": ["full_attention", "sliding_attention"]})",
                 "no window is given for it");
  expect_refusal(llama + R"("layer_types": ["full_attention", "new_attention"]})",
                 "\"new_attention\", which is not known");
  expect_refusal(llama + R"("layer_types": ["full_attention"]})",
                 "2 layers, and 1 are described by layer_types");
}

TEST(HfRefusals, AFileWithoutATypeMaySayNothingUnknownOfTheCache) {
  const std::string figures = R"({"hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 2, )";
  EXPECT_EQ(refusal(figures + R"("vocab_size": 5})"), "");
  for (const std::string_view key :
       {"window_size", "mamba_d_state", "num_kv_groups", "ssm_cfg", "layer_type_list", "multi_query"})
    expect_refusal(figures + "\"" + std::string(key) + "\": 5}", key);
}

TEST(HfRefusals, ValuesThatAreNoNumbers) {
  const std::string rest = R"("model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32})";
  expect_refusal(R"({"num_hidden_layers": 0, )" + rest, "num_hidden_layers is 0, not a whole number above 0");
  expect_refusal(R"({"num_hidden_layers": -1, )" + rest, "num_hidden_layers is -1");
  expect_refusal(R"({"num_hidden_layers": 2.5, )" + rest, "num_hidden_layers is 2.5");
  expect_refusal(R"({"num_hidden_layers": "2", )" + rest, "num_hidden_layers is \"2\"");
  expect_refusal(R"({"num_hidden_layers": Infinity, )" + rest, "num_hidden_layers or n_layer is missing");
  expect_refusal(R"({"num_hidden_layers": 18446744073709551615, )" + rest,
                 "18446744073709551615, not a whole number");
  expect_refusal(R"({"num_hidden_layers": 4097, )" + rest, "4097 layers are more than 4096");
  expect_refusal(R"({"num_key_value_heads": [1, 2], "num_hidden_layers": 2, )" + rest,
                 "num_key_value_heads is [1,2]");
  expect_refusal(
      R"({"num_hidden_layers": 2, "model_type": "llama", "hidden_size": 100, "num_attention_heads": 3})",
      "hidden_size 100 is no multiple of the 3 heads");
}

// Families whose class has a number of KV heads of its own do not mean "as many as heads" where it is absent.
TEST(HfRefusals, WhatAClassWouldFillInUnseen) {
  expect_refusal(
      R"({"model_type": "mixtral", "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32})",
      "num_key_value_heads is missing");
  expect_refusal(R"({"model_type": "granitemoehybrid", "hidden_size": 4096, "num_attention_heads": 32,
    "num_hidden_layers": 32})",
                 "layer_types is missing");
  expect_refusal(
      R"({"model_type": "qwen2_moe", "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32,
    "use_sliding_window": true, "sliding_window": 4096})",
      "said by layer_types alone");
  expect_refusal(R"({"model_type": "deepseek_v3", "num_hidden_layers": 61, "kv_lora_rank": 512})",
                 "qk_rope_head_dim is missing");
  expect_refusal(R"({"model_type": "nemotron_h", "num_attention_heads": 32, "num_key_value_heads": 8,
    "num_hidden_layers": 3, "hybrid_override_pattern": "M?*"})",
                 "\"?\", which is not known");
  expect_refusal(R"({"model_type": "gemma3n_text", "num_hidden_layers": 10, "num_kv_shared_layers": 11})",
                 "num_kv_shared_layers is more than there are layers");
  expect_refusal(
      R"({"model_type": "jamba", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
    "num_hidden_layers": 2})",
      "no layer of jamba keeps anything");
}

TEST(HfRefusals, NestedKeysAreNamedWithTheirPlace) {
  expect_refusal(
      R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "num_hidden_layers": "x"}})",
      "text_config.num_hidden_layers is \"x\"");
}

}  // namespace
}  // namespace kvtier::test
