#include "tools/planner/hf_layers.h"

#include <algorithm>
#include <functional>

namespace kvtier::plan {
namespace {

struct Windows {
  std::uint64_t sliding = 0;  ///< 0: none
  std::uint64_t chunk = 0;
};

// What a layer that is no attention over tokens keeps.
HfLayer without_kv(std::string why) {
  return {.kind = LayerKind::kNone, .why = std::move(why)};
}

HfLayer windowed(const Windows& windows) {
  return windows.sliding == 0 ? HfLayer{} : HfLayer{.kind = LayerKind::kWindow, .window = windows.sliding};
}

HfLayer chunked(const Windows& windows) {
  return windows.chunk == 0 ? HfLayer{} : HfLayer{.kind = LayerKind::kChunk, .window = windows.chunk};
}

HfLayer typed(const std::string& type, const Windows& windows, ConfigObject& config) {
  if (type == "full_attention" || type == "attention") return {};
  if (type == "sliding_attention" && windows.sliding != 0) return windowed(windows);
  if (type == "chunked_attention" && windows.chunk != 0) return chunked(windows);
  if (type == "indexed_attention" || type == "deepseek_sparse_attention") return {};
  if (type == "linear_attention" || type == "mamba" || type == "conv" || type == "recurrent")
    return without_kv(type + ": a state a sequence");
  if (type == "mlp" || type == "moe") return without_kv(type + ": keeps nothing");
  const bool lacks_window = type == "sliding_attention" || type == "chunked_attention";
  config.fail("layer_types has \"" + type + "\"" +
              (lacks_window ? ", and no window is given for it" : ", which is not known"));
  return {};
}

std::vector<HfLayer> by_types(std::string_view key, const Windows& windows, ConfigObject& config) {
  std::vector<HfLayer> layers;
  for (const std::string& type : config.texts(key)) layers.push_back(typed(type, windows, config));
  return layers;
}

std::vector<HfLayer> repeated(std::uint64_t count, const std::function<HfLayer(std::uint64_t)>& layer) {
  std::vector<HfLayer> layers;
  for (std::uint64_t i = 0; i < count; ++i) layers.push_back(layer(i));
  return layers;
}

// Of every `period` layers the last one is `last`.
std::vector<HfLayer> in_periods(std::uint64_t count, std::uint64_t period, const HfLayer& others) {
  return repeated(count, [&](std::uint64_t i) {
    return (i + 1) % std::max<std::uint64_t>(period, 1) == 0 ? HfLayer{} : others;
  });
}

std::vector<HfLayer> with_switch(const HfFamily& family, std::uint64_t count, const Windows& windows,
                                 ConfigObject& config) {
  constexpr std::uint64_t kMaxWindowLayers = 28;  // the classes' default
  const std::uint64_t first = config.count("max_window_layers", kMaxWindowLayers);
  if (windows.sliding != 0 && family.period == 0)
    config.fail(
        "use_sliding_window is true, and which layers have windows is said by layer_types alone, which is "
        "missing");
  return repeated(count, [&](std::uint64_t i) { return i < first ? HfLayer{} : windowed(windows); });
}

std::vector<HfLayer> llama4_layers(const HfFamily& family, std::uint64_t count, const Windows& windows,
                                   ConfigObject& config) {
  const std::vector<std::uint64_t> uses_rope =
      config.numbers("no_rope_layers");  // 1: it does, and is chunked
  const std::uint64_t period = config.number({"no_rope_layer_interval"}, family.period);
  if (uses_rope.empty()) return in_periods(count, period, chunked(windows));
  return repeated(uses_rope.size(),
                  [&](std::uint64_t i) { return uses_rope[i] == 0 ? HfLayer{} : chunked(windows); });
}

std::vector<HfLayer> listed_attention(std::uint64_t count, ConfigObject& config) {
  const std::string_view key = config.has("attn_layer_indices") ? "attn_layer_indices" : "full_attn_idxs";
  const std::vector<std::uint64_t> attention = config.numbers(key);
  if (attention.empty())
    config.fail(
        "neither layer_types nor attn_layer_indices nor full_attn_idxs says which layers have attention");
  return repeated(count, [&](std::uint64_t i) {
    return std::ranges::count(attention, i) != 0 ? HfLayer{} : without_kv("no attention: a state a sequence");
  });
}

std::vector<HfLayer> lettered(ConfigObject& config) {
  std::vector<HfLayer> layers;
  const std::string pattern = config.text("hybrid_override_pattern");
  if (pattern.empty())
    config.fail("neither layers_block_type nor hybrid_override_pattern says what the layers are");
  for (const char letter : pattern) {
    if (letter == '*')
      layers.emplace_back();
    else if (letter == 'M')
      layers.push_back(without_kv("mamba: a state a sequence"));
    else if (letter == '-' || letter == 'E')
      layers.push_back(without_kv("mlp: keeps nothing"));
    else
      config.fail("hybrid_override_pattern has \"" + std::string(1, letter) + "\", which is not known");
  }
  return layers;
}

std::vector<HfLayer> jamba_layers(const HfFamily& family, std::uint64_t count, ConfigObject& config) {
  constexpr std::uint64_t kOffset = 4;  // the class's default
  const std::uint64_t period = config.number({"attn_layer_period"}, family.period);
  const std::uint64_t offset = config.count("attn_layer_offset", kOffset);
  return repeated(count, [&](std::uint64_t i) {
    return i % std::max<std::uint64_t>(period, 1) == offset ? HfLayer{}
                                                            : without_kv("mamba: a state a sequence");
  });
}

std::vector<HfLayer> by_family(const HfFamily& family, std::uint64_t count, const Windows& windows,
                               ConfigObject& config) {
  switch (family.layers) {
    case HfLayers::kFull:
      break;
    case HfLayers::kWindowAll:
      return repeated(count, [&](std::uint64_t) { return windowed(windows); });
    case HfLayers::kWindowSwitched:
      return with_switch(family, count, windows, config);
    case HfLayers::kWindowPeriod:
      return in_periods(count, config.number({"sliding_window_pattern"}, family.period), windowed(windows));
    case HfLayers::kChunkPeriod:
      return llama4_layers(family, count, windows, config);
    case HfLayers::kLinearPeriod:
      return in_periods(count, config.number({"full_attention_interval"}, family.period),
                        without_kv("linear attention: a state a sequence"));
    case HfLayers::kAttentionPeriod:
      return jamba_layers(family, count, config);
    case HfLayers::kAttentionList:
      return listed_attention(count, config);
    case HfLayers::kPattern:
      return lettered(config);
    case HfLayers::kListed:
      config.fail("layer_types is missing: " + std::string(family.type) + " is not told without it");
      break;
  }
  return repeated(count, [](std::uint64_t) { return HfLayer{}; });
}

// Null is no window; absent is what the class has. Whatever the family, a list of layers may name windows.
std::uint64_t sliding_window(const HfFamily& family, bool is_listed, ConfigObject& config) {
  if (family.layers == HfLayers::kWindowSwitched && !is_listed) {
    if (config.flag("use_sliding_window", false)) return config.need({"sliding_window"});
    config.pass_over({"sliding_window"});
    return 0;
  }
  const bool has_windows = family.layers == HfLayers::kWindowAll || family.layers == HfLayers::kWindowPeriod;
  if (!has_windows && !is_listed) return 0;
  return config.is_null("sliding_window") ? 0 : config.count("sliding_window", family.window);
}

Windows read_windows(const HfFamily& family, bool is_listed, ConfigObject& config) {
  const bool has_chunks = family.layers == HfLayers::kChunkPeriod;
  Windows windows;
  if (!has_chunks) windows.sliding = sliding_window(family, is_listed, config);
  if ((has_chunks || is_listed) && !config.is_null("attention_chunk_size"))
    windows.chunk = config.count("attention_chunk_size", has_chunks ? family.window : 0);
  return windows;
}

// Keys of the rule that layer_types stands for.
void pass_over_rules(ConfigObject& config) {
  config.pass_over({"max_window_layers", "sliding_window_pattern", "no_rope_layers", "no_rope_layer_interval",
                    "full_attention_interval", "attn_layer_period", "attn_layer_offset", "attn_layer_indices",
                    "full_attn_idxs", "hybrid_override_pattern"});
}

}  // namespace

std::vector<HfLayer> hf_layers(const HfFamily& family, ConfigObject& config) {
  const std::string_view listed = config.has("layers_block_type") ? "layers_block_type" : "layer_types";
  const bool is_listed = config.has(listed);
  // nemotron_h's list, or pattern, is the number of layers.
  const bool is_count_told = family.layers == HfLayers::kPattern;
  const std::uint64_t count = config.number({"num_hidden_layers", "n_layer", "num_layers"}, 0);
  if (count == 0 && !is_count_told) config.fail("num_hidden_layers or n_layer is missing");
  if (count > kLayersMax)
    config.fail(std::to_string(count) + " layers are more than " + std::to_string(kLayersMax));
  if (!config.status().is_ok()) return {};
  const Windows windows = read_windows(family, is_listed, config);
  std::vector<HfLayer> layers =
      is_listed ? by_types(listed, windows, config) : by_family(family, count, windows, config);
  if (is_listed) pass_over_rules(config);
  if (count != 0 && layers.size() != count) {
    config.fail("there are " + std::to_string(count) + " layers, and " + std::to_string(layers.size()) +
                " are described by " + (is_listed ? std::string(listed) : "their pattern"));
  }
  return layers;
}

}  // namespace kvtier::plan
