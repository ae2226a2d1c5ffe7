#pragma once
// What the model types of Hugging Face's transformers mean for the KV cache: what config.json does not say itself. One
// row a type. Defaults are those of the type's configuration class (transformers 5.24), which apply where a key is
// absent; a type that is not here is refused, not guessed.

#include <cstdint>
#include <string_view>

namespace kvtier::plan {

enum class HfHeads : std::uint8_t {
  kGrouped,     ///< num_key_value_heads; absent: as many as query heads
  kNeeded,      ///< the same, and the class has a default of its own: absent is refused
  kFalcon,      ///< new_decoder_architecture, multi_query, num_kv_heads
  kMultiQuery,  ///< gpt_bigcode: multi_query
  kGlobals,  ///< gemma4: full layers have global_head_dim, and num_global_key_value_heads with attention_k_eq_v
  kLatent    ///< MLA: kv_lora_rank + qk_rope_head_dim values, one row
};

/// Which layers keep what, where `layer_types` does not say.
enum class HfLayers : std::uint8_t {
  kFull,
  kWindowAll,       ///< sliding_window, of every layer; null: full
  kWindowSwitched,  ///< use_sliding_window; from layer max_window_layers on where `period` is not 0
  kWindowPeriod,    ///< of `period` layers the last is full (sliding_window_pattern may say another period)
  kChunkPeriod,     ///< llama4: no_rope_layers, else of `period` layers the last is full
  kLinearPeriod,    ///< full_attention_interval: of `period` layers the last is full, the others keep a state
  kAttentionPeriod,  ///< jamba: attn_layer_period, attn_layer_offset
  kAttentionList,    ///< bamba, lfm2: attn_layer_indices, full_attn_idxs
  kPattern,          ///< nemotron_h: hybrid_override_pattern, a letter a layer
  kListed            ///< by layer_types only
};

struct HfFamily {
  std::string_view type;
  HfHeads heads = HfHeads::kGrouped;
  HfLayers layers = HfLayers::kFull;
  std::uint32_t period = 0;
  std::uint32_t window = 0;    ///< of a class whose sliding_window has a default; 0: absent is none
  std::uint32_t head_dim = 0;  ///< likewise; 0: hidden_size / heads
  std::uint32_t kv_heads = 0;  ///< likewise; 0: as `heads` says
  std::uint32_t shared = 0;    ///< likewise num_kv_shared_layers
  std::string_view note;       ///< "": none
};

/// Null: not known.
const HfFamily* find_hf_family(std::string_view type);

}  // namespace kvtier::plan
