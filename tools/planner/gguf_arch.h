#pragma once
// What llama.cpp's architectures mean for the KV cache beyond what their metadata say. One row an architecture, as
// llama.cpp reads it (src/models, the version that tools/env/llama.sh builds); others are refused, not guessed.

#include <cstdint>
#include <string_view>

namespace kvtier::plan {

enum class GgufWindows : std::uint8_t {
  kNone,    ///< every layer keeps every token, whatever sliding_window says
  kPeriod,  ///< where the pattern is not given: of `period` layers the last is full
  kListed,  ///< by a list in sliding_window_pattern only
  kChunks   ///< llama4: likewise by period, of chunks of 8192 tokens
};

struct GgufArch {
  std::string_view name;
  GgufWindows windows = GgufWindows::kNone;
  std::uint32_t period = 0;
  std::uint32_t window = 0;          ///< where sliding_window is not given; 0: then there is none
  bool needs_shared_layers = false;  ///< shared_kv_layers must be told
  std::uint32_t interval =
      0;  ///< full_attention_interval where neither it nor recurrent_layers is given; 0: none
};

/// Null: not known.
const GgufArch* find_gguf_arch(std::string_view name);

}  // namespace kvtier::plan
