#include "tools/planner/gguf_arch.h"

#include <algorithm>
#include <array>

namespace kvtier::plan {
namespace {

using enum GgufWindows;

// clang-format off
// name, windows, period, window, needs_shared_layers, interval
constexpr auto kArchitectures = std::to_array<GgufArch>({
  {"llama"}, {"mistral3"}, {"deci"}, {"falcon"}, {"gpt2"}, {"gptj"}, {"gptneox"}, {"mpt"}, {"baichuan"}, {"starcoder"},
  {"starcoder2"}, {"refact"}, {"bloom"}, {"stablelm"}, {"qwen"}, {"qwen2"}, {"qwen2moe"}, {"qwen2vl"}, {"qwen3"}, {"qwen3moe"},
  {"qwen3vl"}, {"qwen3vlmoe"}, {"phi2"}, {"phi3"}, {"phimoe"}, {"codeshell"}, {"orion"}, {"internlm2"}, {"minicpm"},
  {"minicpm3"}, {"gemma"}, {"xverse"}, {"command-r"}, {"dbrx"}, {"olmo"}, {"olmoe"}, {"openelm"}, {"arctic"}, {"deepseek"},
  {"deepseek2"}, {"chatglm"}, {"glm4"}, {"glm4moe"}, {"jais"}, {"nemotron"}, {"exaone"}, {"granite"}, {"granitemoe"},
  {"bailingmoe"}, {"dots1"}, {"arcee"}, {"ernie4_5"}, {"ernie4_5-moe"}, {"hunyuan-moe"}, {"hunyuan-dense"}, {"smollm3"},
  {"seed_oss"}, {"apertus"}, {"minimax-m2"},
  // Hybrids: layers without KV have 0 in the list head_count_kv.
  {"jamba"}, {"falcon-h1"}, {"granitehybrid"}, {"nemotron_h"}, {"nemotron_h_moe"}, {"lfm2", kListed}, {"lfm2moe", kListed}, {"plamo2"},
  {"qwen3next", kNone, 0, 0, false, 4}, {"qwen35", kNone, 0, 0, false, 4}, {"qwen35moe", kNone, 0, 0, false, 4},
  // Windows.
  {"gemma2", kPeriod, 2, 4096}, {"gemma3", kPeriod, 6}, {"gemma3n", kPeriod, 5, 0, true}, {"gemma4", kListed},
  {"gpt-oss", kPeriod, 2}, {"cohere2", kPeriod, 4}, {"olmo2", kPeriod, 4}, {"llama4", kChunks, 4, 8192},
});
// clang-format on

}  // namespace

const GgufArch* find_gguf_arch(std::string_view name) {
  const auto* const row = std::ranges::find(kArchitectures, name, &GgufArch::name);
  return row == kArchitectures.end() ? nullptr : row;
}

}  // namespace kvtier::plan
