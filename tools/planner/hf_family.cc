#include "tools/planner/hf_family.h"

#include <algorithm>
#include <array>

namespace kvtier::plan {
namespace {

using enum HfHeads;
using enum HfLayers;

constexpr std::string_view kLatentNote =
    "MLA rows as vLLM, SGLang and llama.cpp keep them: one compressed row a token and layer, no factor 2";
constexpr std::string_view kIndexerNote =
    "indexer keys are counted in the dtype of the rest; vLLM packs each into 132 bytes (128 in fp8 and a "
    "scale)";
constexpr std::string_view kMambaToo =
    "every layer also keeps a mamba state a sequence, which is not counted";
constexpr std::string_view kState =
    "states of layers without KV are kept once a sequence and are not counted";

// clang-format off
// type, heads, layers, period, window, head_dim, kv_heads, shared, note
constexpr auto kFamilies = std::to_array<HfFamily>({
  {"llama"}, {"gpt_neox"}, {"gpt2"}, {"gptj"}, {"bloom"}, {"opt"}, {"phi"}, {"stablelm"}, {"olmo"}, {"olmo2"}, {"olmoe"},
  {"granite"}, {"granitemoe"}, {"cohere"}, {"internlm2"}, {"nemotron"}, {"arcee"}, {"apertus"}, {"minicpm"}, {"deepseek"},
  {"mistral", kNeeded, kWindowAll, 0, 4096}, {"ministral3", kNeeded, kWindowAll, 0, 0, 128},
  {"mixtral", kNeeded, kWindowAll}, {"phi3", kGrouped, kWindowAll}, {"starcoder2", kNeeded, kWindowAll},
  {"qwen2", kGrouped, kWindowSwitched, 1}, {"qwen2_vl", kGrouped, kWindowSwitched, 1},
  {"qwen2_vl_text", kGrouped, kWindowSwitched, 1}, {"qwen2_5_vl", kGrouped, kWindowSwitched, 1},
  {"qwen2_5_vl_text", kGrouped, kWindowSwitched, 1}, {"qwen2_moe", kGrouped, kWindowSwitched},
  {"qwen3", kGrouped, kWindowSwitched, 1, 0, 128}, {"qwen3_moe", kNeeded, kWindowSwitched},
  {"qwen3_vl_text", kNeeded, kFull, 0, 0, 128}, {"qwen3_vl_moe_text", kNeeded, kFull, 0, 0, 128},
  {"smollm3", kNeeded, kWindowSwitched},
  {"gemma", kGrouped, kFull, 0, 0, 256}, {"gemma2", kNeeded, kWindowPeriod, 2, 4096, 256},
  {"gemma3_text", kNeeded, kWindowPeriod, 6, 4096, 256, 4}, {"gemma3n_text", kNeeded, kWindowPeriod, 5, 512, 256, 2, 15},
  {"gemma4_text", kGlobals, kWindowPeriod, 6, 512, 256},
  {"cohere2", kNeeded, kWindowPeriod, 4, 4096}, {"gpt_oss", kNeeded, kWindowPeriod, 2, 128, 64},
  {"olmo3", kNeeded, kWindowPeriod, 4, 4096}, {"exaone4", kNeeded, kWindowPeriod, 4, 4096},
  {"llama4_text", kNeeded, kChunkPeriod, 4, 8192, 128},
  {"glm", kNeeded, kFull, 0, 0, 128}, {"glm4", kNeeded, kFull, 0, 0, 128}, {"glm4_moe", kNeeded},
  {"seed_oss", kNeeded, kFull, 0, 0, 128}, {"ernie4_5", kNeeded, kFull, 0, 0, 128}, {"internlm3", kNeeded, kFull, 0, 0, 128},
  {"falcon", kFalcon}, {"gpt_bigcode", kMultiQuery},
  {"deepseek_v2", kLatent, kFull, 0, 0, 0, 0, 0, kLatentNote}, {"deepseek_v3", kLatent, kFull, 0, 0, 0, 0, 0, kLatentNote},
  {"kimi_k2", kLatent, kFull, 0, 0, 0, 0, 0, kLatentNote}, {"glm4_moe_lite", kLatent, kFull, 0, 0, 0, 0, 0, kLatentNote},
  {"deepseek_v32", kLatent, kFull, 0, 0, 0, 0, 0, kIndexerNote},
  {"qwen3_next", kNeeded, kLinearPeriod, 4, 0, 256, 0, 0, kState}, {"qwen3_5_text", kNeeded, kLinearPeriod, 4, 0, 256, 0, 0, kState},
  {"qwen3_5_moe_text", kNeeded, kLinearPeriod, 4, 0, 256, 0, 0, kState},
  {"jamba", kNeeded, kAttentionPeriod, 8, 0, 0, 0, 0, kState}, {"bamba", kNeeded, kAttentionList, 0, 0, 0, 0, 0, kState},
  {"lfm2", kNeeded, kAttentionList, 0, 0, 0, 0, 0, kState}, {"nemotron_h", kNeeded, kPattern, 0, 0, 128, 0, 0, kState},
  {"granitemoehybrid", kGrouped, kListed, 0, 0, 0, 0, 0, kState}, {"minimax", kNeeded, kListed, 0, 0, 0, 0, 0, kState},
  {"falcon_h1", kNeeded, kFull, 0, 0, 0, 0, 0, kMambaToo},
});
// clang-format on

}  // namespace

const HfFamily* find_hf_family(std::string_view type) {
  const auto* const row = std::ranges::find(kFamilies, type, &HfFamily::type);
  return row == kFamilies.end() ? nullptr : row;
}

}  // namespace kvtier::plan
