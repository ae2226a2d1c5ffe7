#include "tools/planner/kv_model.h"

#include <algorithm>

namespace kvtier::plan {

std::uint64_t LayerKv::tokens_kept(std::uint64_t tokens) const {
  if (kind == LayerKind::kNone) return 0;
  return kind == LayerKind::kFull ? tokens : std::min(tokens, window);
}

void KvModel::add(std::uint32_t layer, const LayerKv& kv) {
  const auto same = std::ranges::find(groups, kv, &LayerGroup::kv);
  if (same != groups.end()) {
    same->layers.push_back(layer);
  } else {
    groups.push_back({kv, {layer}});
  }
}

Status KvModel::check() const {
  bool has_kv = false;
  for (const LayerGroup& group : groups) {
    const LayerKv& kv = group.kv;
    if (kv.kind == LayerKind::kNone) continue;
    has_kv = true;
    const std::string of = " of layers " + layer_ranges(group.layers);
    if (kv.heads == 0 || kv.key_dim == 0) return {Code::kInvalid, "heads or head dimension" + of + " is 0"};
    if (kv.kind != LayerKind::kFull && kv.window == 0) return {Code::kInvalid, "the window" + of + " is 0"};
  }
  if (has_kv) return Status::ok();
  return {Code::kUnsupported,
          "no layer of " + name + " keeps anything per token: there is no KV cache to plan"};
}

std::string_view kind_name(LayerKind kind) {
  switch (kind) {
    case LayerKind::kFull:
      return "full";
    case LayerKind::kWindow:
      return "window";
    case LayerKind::kChunk:
      return "chunk";
    case LayerKind::kNone:
      break;
  }
  return "none";
}

std::string_view row_name(RowKind rows) {
  switch (rows) {
    case RowKind::kHeads:
      return "heads";
    case RowKind::kLatent:
      return "latent";
    case RowKind::kIndexer:
      break;
  }
  return "indexer";
}

std::string layer_ranges(const std::vector<std::uint32_t>& layers) {
  std::string text;
  for (std::size_t i = 0; i < layers.size();) {
    std::size_t end = i + 1;
    while (end < layers.size() && layers[end] == layers[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(layers[i]);
    if (end - i > 1) text += "-" + std::to_string(layers[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace kvtier::plan
