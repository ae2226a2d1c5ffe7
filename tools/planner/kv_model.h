#pragma once
// What a model keeps of each token: its layers, alike ones together.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libkvclient/base/status.h"

namespace kvtier::plan {

inline constexpr std::uint64_t kLayersMax = 4096;

enum class LayerKind : std::uint8_t {
  kFull,    ///< every token
  kWindow,  ///< of a sequence the last `window` tokens
  kChunk,   ///< of a sequence the tokens of one chunk, at most `window`
  kNone     ///< nothing per token: `why` says what there is instead
};

enum class RowKind : std::uint8_t {
  kHeads,   ///< a K and a V row a head
  kLatent,  ///< MLA: one compressed row, which stands for K and V of all heads
  kIndexer  ///< keys of a sparse indexer, beside the layer's other rows
};

struct LayerKv {
  LayerKind kind = LayerKind::kFull;
  RowKind rows = RowKind::kHeads;
  std::uint64_t window = 0;     ///< tokens; 0 for kFull and kNone
  std::uint64_t heads = 0;      ///< rows of K a token
  std::uint64_t key_dim = 0;    ///< values in a row
  std::uint64_t value_dim = 0;  ///< 0: no V
  std::string why;

  friend bool operator==(const LayerKv&, const LayerKv&) = default;
  /// Tokens of a sequence that the layer keeps.
  [[nodiscard]] std::uint64_t tokens_kept(std::uint64_t tokens) const;
};

struct LayerGroup {
  LayerKv kv;
  std::vector<std::uint32_t> layers;
};

struct KvModel {
  std::string name;              ///< "llama", "gemma3"; "flags"
  std::string source;            ///< the file; empty: flags
  std::string dtype;             ///< of the cache, as the source or its engine has it; empty: neither says
  std::uint64_t tokens_max = 0;  ///< that it was made for; 0: not said
  std::vector<LayerGroup> groups;
  std::vector<std::string> notes;  ///< what a reader of the figures should know

  void add(std::uint32_t layer, const LayerKv& kv);
  /// kInvalid: no layer keeps anything per token, or a size is 0.
  [[nodiscard]] Status check() const;
};

std::string_view kind_name(LayerKind kind);
std::string_view row_name(RowKind rows);
/// "0-3, 5": sorted or not, as given.
std::string layer_ranges(const std::vector<std::uint32_t>& layers);

}  // namespace kvtier::plan
