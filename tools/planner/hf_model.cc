#include "tools/planner/hf_model.h"

#include <algorithm>
#include <array>

#include "tools/planner/config_object.h"
#include "tools/planner/hf_family.h"
#include "tools/planner/hf_layers.h"

namespace kvtier::plan {
namespace {

constexpr std::string_view kCure =
    "; or give the figures instead of the file: --layers, --kv-heads, --head-dim, --dtype";

// A file without model_type gives figures alone: they mean what they mean for Llama.
constexpr HfFamily kNameless{.type = "config.json without model_type"};

// What changes the KV cache of some family: a model that says one of them to a family that does not ask for it is not
// understood.
constexpr auto kTelling = std::to_array<std::string_view>({"sliding_window",
                                                           "layer_types",
                                                           "kv_lora_rank",
                                                           "attention_chunk_size",
                                                           "num_kv_shared_layers",
                                                           "index_head_dim",
                                                           "full_attention_interval",
                                                           "attn_layer_period",
                                                           "attn_layer_indices",
                                                           "full_attn_idxs",
                                                           "hybrid_override_pattern",
                                                           "layers_block_type",
                                                           "cross_attention_layers",
                                                           "block_configs",
                                                           "num_key_value_heads_per_layer",
                                                           "per_layer_config",
                                                           "attention_window_size",
                                                           "block_types",
                                                           "attention_types",
                                                           "linear_attn_config",
                                                           "is_encoder_decoder",
                                                           "num_global_key_value_heads",
                                                           "global_head_dim"});
// Of a file without model_type also whatever is named like these.
constexpr auto kTellingParts = std::to_array<std::string_view>(
    {"window", "chunk", "kv_", "_kv", "mamba", "ssm", "lru", "linear_attn", "lora_rank", "cross", "conv",
     "state", "hybrid", "multi_query", "key_value", "layer_type", "block_type", "indexer", "attn_config"});

bool is_telling(const HfFamily& family, std::string_view key) {
  if (std::ranges::count(kTelling, key) != 0) return true;
  const auto is_named = [&](std::string_view part) { return key.find(part) != std::string_view::npos; };
  return &family == &kNameless && key != "quantization_config" &&
         std::ranges::any_of(kTellingParts, is_named);
}

void check_unread(const HfFamily& family, ConfigObject& config) {
  for (const std::string& key : config.unread()) {
    if (is_telling(family, key))
      config.fail(key + " changes what is cached, and is not understood for " + std::string(family.type));
  }
}

std::uint64_t head_dim(const HfFamily& family, ConfigObject& config) {
  const std::uint64_t given = config.number({"head_dim"}, family.head_dim);
  if (given != 0) return given;
  const std::uint64_t hidden = config.need({"hidden_size", "n_embd"});
  const std::uint64_t heads = config.need({"num_attention_heads", "n_head"});
  if (!config.status().is_ok()) return 0;
  if (hidden % heads != 0)
    config.fail("head_dim is missing, and hidden_size " + std::to_string(hidden) + " is no multiple of the " +
                std::to_string(heads) + " heads");
  return hidden / heads;
}

std::uint64_t query_heads(ConfigObject& config) {
  return config.need({"num_attention_heads", "n_head"});
}

std::uint64_t kv_heads(const HfFamily& family, ConfigObject& config) {
  switch (family.heads) {
    case HfHeads::kGrouped:
      return config.has("num_key_value_heads") ? config.need({"num_key_value_heads"}) : query_heads(config);
    case HfHeads::kNeeded:
    case HfHeads::kGlobals:
      // Null is as many as query heads; absent is the class's own number.
      if (config.is_null("num_key_value_heads")) return query_heads(config);
      return family.kv_heads == 0 ? config.need({"num_key_value_heads"})
                                  : config.number({"num_key_value_heads"}, family.kv_heads);
    case HfHeads::kFalcon:
      if (config.flag("new_decoder_architecture", false))
        return config.has("num_kv_heads") ? config.need({"num_kv_heads"}) : query_heads(config);
      config.pass_over({"num_kv_heads"});
      return config.flag("multi_query", true) ? 1 : query_heads(config);
    case HfHeads::kMultiQuery:
      return config.flag("multi_query", true) ? 1 : query_heads(config);
    case HfHeads::kLatent:
      break;
  }
  return 1;
}

LayerKv row_of(const HfFamily& family, ConfigObject& config) {
  LayerKv kv{.heads = kv_heads(family, config)};
  if (family.heads == HfHeads::kLatent) {
    kv.rows = RowKind::kLatent;
    kv.key_dim = config.need({"kv_lora_rank"}) + config.need({"qk_rope_head_dim"});
    return kv;
  }
  kv.key_dim = kv.value_dim = head_dim(family, config);
  return kv;
}

// gemma4's layers without windows.
LayerKv global_row_of(const LayerKv& kv, ConfigObject& config) {
  constexpr std::uint64_t kGlobalHeadDim = 512;  // the class's default
  LayerKv global = kv;
  global.key_dim = global.value_dim = config.number({"global_head_dim"}, kGlobalHeadDim);
  const bool has_own_heads = config.flag("attention_k_eq_v", false);
  const std::uint64_t heads = config.number({"num_global_key_value_heads"}, kv.heads);
  global.heads = has_own_heads ? heads : kv.heads;
  return global;
}

struct Rows {
  LayerKv kv;
  LayerKv full;     ///< of layers without a window
  LayerKv indexer;  ///< heads 0: none
};

Rows rows_of(const HfFamily& family, ConfigObject& config) {
  Rows rows{.kv = row_of(family, config)};
  rows.full = family.heads == HfHeads::kGlobals ? global_row_of(rows.kv, config) : rows.kv;
  if (family.type == "deepseek_v32")
    rows.indexer = {.rows = RowKind::kIndexer, .heads = 1, .key_dim = config.need({"index_head_dim"})};
  return rows;
}

void add_layer(std::uint32_t index, const HfLayer& layer, const Rows& rows, KvModel& model) {
  if (layer.kind == LayerKind::kNone) {
    model.add(index, {.kind = LayerKind::kNone, .why = layer.why});
    return;
  }
  LayerKv kv = layer.kind == LayerKind::kFull ? rows.full : rows.kv;
  kv.kind = layer.kind;
  kv.window = layer.window;
  model.add(index, kv);
  if (rows.indexer.heads != 0) model.add(index, rows.indexer);
}

void add_layers(const HfFamily& family, ConfigObject& config, KvModel& model) {
  const std::vector<HfLayer> layers = hf_layers(family, config);
  const Rows rows = rows_of(family, config);
  const bool may_share = family.shared != 0 || family.heads == HfHeads::kGlobals;
  const std::uint64_t shared = may_share ? config.count("num_kv_shared_layers", family.shared) : 0;
  if (shared > layers.size()) config.fail("num_kv_shared_layers is more than there are layers");
  if (!config.status().is_ok()) return;
  for (std::uint32_t i = 0; i < layers.size(); ++i) {
    const bool is_shared = i >= layers.size() - shared;
    add_layer(
        i,
        is_shared ? HfLayer{.kind = LayerKind::kNone, .why = "uses the KV of an earlier layer"} : layers[i],
        rows, model);
  }
}

void add_notes(const HfFamily& family, const ConfigObject& config, KvModel& model) {
  if (!family.note.empty()) model.notes.emplace_back(family.note);
  if (&family == &kNameless)
    model.notes.emplace_back("the file has no model_type: its figures are read as those of a llama");
  if (config.says("num_nextn_predict_layers"))
    model.notes.emplace_back("layers that predict further tokens (num_nextn_predict_layers) are not counted");
  const bool is_quantised = config.says("quantization_config") && config.child({"quantization_config"}) &&
                            config.child({"quantization_config"})->says("kv_cache_scheme");
  if (is_quantised)
    model.notes.emplace_back(
        "quantization_config.kv_cache_scheme quantises the KV cache: say as what with --dtype");
}

// The text model inside a larger one says what its layers are; what it leaves out, dtype above all, the outer one may say.
struct Found {
  ConfigObject text;
  std::string dtype;
};

std::string dtype_of(ConfigObject& config) {
  const std::string dtype = config.text("dtype");
  return dtype.empty() ? config.text("torch_dtype") : dtype;
}

Found find_text_model(ConfigObject outer) {
  std::string dtype = dtype_of(outer);
  std::optional<ConfigObject> inner = outer.child({"text_config", "llm_config", "language_config"});
  if (!inner) return {std::move(outer), std::move(dtype)};
  const std::string own = dtype_of(*inner);
  return {std::move(*inner), own.empty() ? dtype : own};
}

Result<const HfFamily*> family_of(ConfigObject& config, std::string_view read_as) {
  const std::string own = config.text("model_type");
  const std::string type = read_as.empty() ? own : std::string(read_as);
  if (!config.status().is_ok()) return config.status();
  if (type.empty()) return &kNameless;
  const HfFamily* family = find_hf_family(type);
  if (family != nullptr) return family;
  return Status(
      Code::kUnsupported,
      "model_type \"" + type +
          "\" is not known to this version; if it caches like one that is, say which: --read-as TYPE" +
          std::string(kCure));
}

}  // namespace

Result<KvModel> read_hf_config(std::string_view text, std::string_view read_as) {
  Result<ConfigObject> parsed = ConfigObject::parse(text);
  if (!parsed.is_ok()) return parsed.status();
  Found found = find_text_model(std::move(parsed).value());
  ConfigObject& config = found.text;
  const Result<const HfFamily*> known = family_of(config, read_as);
  if (!known.is_ok()) return known.status();
  const HfFamily& family = *known.value();
  KvModel model{.name = &family == &kNameless ? "config.json" : std::string(family.type),
                .dtype = found.dtype};
  model.tokens_max =
      config.number({"max_position_embeddings", "n_positions", "max_seq_len", "seq_length"}, 0);
  add_layers(family, config, model);
  check_unread(family, config);
  if (!config.status().is_ok())
    return Status(config.status().code(), config.status().message() + std::string(kCure));
  add_notes(family, config, model);
  if (Status status = model.check(); !status.is_ok()) return status;
  return model;
}

}  // namespace kvtier::plan
