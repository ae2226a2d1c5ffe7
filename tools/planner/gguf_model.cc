#include "tools/planner/gguf_model.h"

#include <algorithm>

#include "tools/planner/gguf_arch.h"
#include "tools/planner/gguf_keys.h"

namespace kvtier::plan {
namespace {

constexpr std::string_view kCure =
    "; or give the figures instead of the file: --layers, --kv-heads, --head-dim, --dtype";

constexpr std::string_view kCacheDtype = "f16";  ///< llama.cpp's default, of K and of V

struct Sizes {
  std::uint64_t all = 0;     ///< layers in the file
  std::uint64_t layers = 0;  ///< that make tokens; the others predict further ones
  std::uint64_t shared = 0;  ///< of them the last ones that use the KV of earlier layers
  LayerKv full;
  LayerKv windowed;  ///< rows of layers with windows
  std::uint64_t window = 0;
};

// The older files of such models have no *_mla keys, and llama.cpp then keeps K and V of each head.
bool is_latent(const GgufKeys& keys) {
  return keys.has("attention.key_length_mla") && keys.has("attention.value_length_mla");
}

std::uint64_t head_dim(std::string_view key, GgufKeys& keys) {
  if (keys.has(key)) return keys.need(key);
  if (keys.is_list("attention.head_count"))
    keys.fail(std::string(key) + " is missing, and heads differ by layer");
  const std::uint64_t embedding = keys.need("embedding_length");
  const std::uint64_t heads = keys.need("attention.head_count");
  if (!keys.status().is_ok()) return 0;
  if (heads != 0 && embedding % heads == 0) return embedding / heads;
  keys.fail(std::string(key) + " is missing, and embedding_length " + std::to_string(embedding) +
            " is no multiple of the " + std::to_string(heads) + " heads");
  return 0;
}

LayerKv row_of(GgufKeys& keys) {
  LayerKv kv{.key_dim = head_dim("attention.key_length", keys)};
  if (is_latent(keys)) {
    kv.rows = RowKind::kLatent;
  } else {
    kv.value_dim = head_dim("attention.value_length", keys);
  }
  return kv;
}

Sizes read_sizes(const GgufArch& arch, GgufKeys& keys) {
  Sizes sizes{.all = keys.need("block_count")};
  const std::uint64_t further = keys.number("nextn_predict_layers", 0);
  sizes.shared = keys.number("attention.shared_kv_layers", 0);
  if (sizes.all == 0 || sizes.all > kLayersMax)
    keys.fail("block_count is " + std::to_string(sizes.all) + "; 1 to " + std::to_string(kLayersMax) +
              " layers are read");
  if (further + sizes.shared >= sizes.all)
    keys.fail("nextn_predict_layers and shared_kv_layers leave no layer");
  if (arch.needs_shared_layers && !keys.has("attention.shared_kv_layers"))
    keys.fail("attention.shared_kv_layers is missing: how many layers use the KV of others is not told");
  if (!keys.status().is_ok()) return sizes;
  sizes.layers = sizes.all - further;
  sizes.full = row_of(keys);
  sizes.windowed = sizes.full;
  sizes.windowed.key_dim = keys.number("attention.key_length_swa", sizes.full.key_dim);
  sizes.windowed.value_dim = keys.number("attention.value_length_swa", sizes.full.value_dim);
  if (arch.windows == GgufWindows::kChunks) {
    sizes.window =
        keys.number("attention.sliding_window", 1) == 0 ? 0 : arch.window;  // as llama.cpp: 0 is none
  } else if (arch.windows != GgufWindows::kNone) {
    sizes.window = keys.number("attention.sliding_window", arch.window);
  }
  return sizes;
}

// One a layer: has it a window?
std::vector<std::uint64_t> window_list(const GgufArch& arch, const Sizes& sizes, GgufKeys& keys) {
  constexpr std::string_view kPattern = "attention.sliding_window_pattern";
  if (sizes.window == 0) return std::vector<std::uint64_t>(sizes.all, 0);
  if (keys.is_list(kPattern)) return keys.by_layer(kPattern, sizes.all);
  if (arch.windows == GgufWindows::kListed) keys.fail(std::string(kPattern) + " is no list of layers");
  const std::uint64_t period = std::max<std::uint64_t>(keys.number(kPattern, arch.period), 1);
  std::vector<std::uint64_t> windows;
  for (std::uint64_t i = 0; i < sizes.all; ++i) windows.push_back((i + 1) % period == 0 ? 0 : 1);
  return windows;
}

// One a layer: does it keep a state instead of KV? Empty: none does.
std::vector<std::uint64_t> recurrent_list(const GgufArch& arch, const Sizes& sizes, GgufKeys& keys) {
  if (arch.interval == 0) return {};
  if (keys.has("attention.recurrent_layers")) return keys.by_layer("attention.recurrent_layers", sizes.all);
  const std::uint64_t interval =
      std::max<std::uint64_t>(keys.number("full_attention_interval", arch.interval), 1);
  std::vector<std::uint64_t> recurrent;
  for (std::uint64_t i = 0; i < sizes.all; ++i) recurrent.push_back((i + 1) % interval == 0 ? 0 : 1);
  return recurrent;
}

LayerKv without_kv(std::string why) {
  return {.kind = LayerKind::kNone, .why = std::move(why)};
}

struct Lists {
  std::vector<std::uint64_t> heads;
  std::vector<std::uint64_t> windows;
  std::vector<std::uint64_t> recurrent;
};

LayerKv layer_of(std::uint64_t i, const GgufArch& arch, const Sizes& sizes, const Lists& lists) {
  if (!lists.recurrent.empty() && lists.recurrent[i] != 0)
    return without_kv("linear attention: a state a sequence");
  if (lists.heads[i] == 0) return without_kv("no KV heads: a state a sequence, or nothing");
  if (i >= sizes.layers - sizes.shared) return without_kv("uses the KV of an earlier layer");
  const bool has_window = lists.windows[i] != 0;
  LayerKv kv = has_window ? sizes.windowed : sizes.full;
  kv.heads = lists.heads[i];
  if (has_window) {
    kv.kind = arch.windows == GgufWindows::kChunks ? LayerKind::kChunk : LayerKind::kWindow;
    kv.window = sizes.window;
  }
  return kv;
}

void add_layers(const GgufArch& arch, GgufKeys& keys, KvModel& model) {
  const Sizes sizes = read_sizes(arch, keys);
  if (!keys.status().is_ok()) return;
  const std::string_view heads =
      keys.has("attention.head_count_kv") ? "attention.head_count_kv" : "attention.head_count";
  Lists lists{.heads = keys.by_layer(heads, sizes.all),
              .windows = window_list(arch, sizes, keys),
              .recurrent = recurrent_list(arch, sizes, keys)};
  if (lists.heads.empty()) keys.fail("attention.head_count_kv and attention.head_count are missing");
  if (!keys.status().is_ok()) return;
  for (std::uint64_t i = 0; i < sizes.layers; ++i)
    model.add(static_cast<std::uint32_t>(i), layer_of(i, arch, sizes, lists));
}

void add_notes(const GgufArch& arch, const GgufKeys& keys, KvModel& model) {
  model.notes.emplace_back("a GGUF file does not say the dtype of its cache; " + std::string(kCacheDtype) +
                           " is llama.cpp's default");
  if (arch.windows == GgufWindows::kNone && keys.has("attention.sliding_window"))
    model.notes.emplace_back("sliding_window is in the file, and llama.cpp keeps every token of " +
                             std::string(arch.name) + " all the same");
  if (keys.has("attention.kv_lora_rank")) {
    model.notes.emplace_back(
        is_latent(keys)
            ? "MLA: llama.cpp keeps one compressed row a token and layer, no factor 2"
            : "the file has no *_length_mla keys: llama.cpp keeps K and V of each head, many times "
              "the compressed rows; converting the model anew gives those");
  }
  if (keys.has("nextn_predict_layers"))
    model.notes.emplace_back("layers that predict further tokens are not counted");
}

Result<const GgufArch*> arch_of(const std::string& own, std::string_view read_as) {
  const std::string name = read_as.empty() ? own : std::string(read_as);
  const GgufArch* arch = find_gguf_arch(name);
  if (arch != nullptr) return arch;
  return Status(
      Code::kUnsupported,
      "architecture \"" + name +
          "\" is not known to this version; if it caches like one that is, say which: --read-as NAME" +
          std::string(kCure));
}

}  // namespace

Result<KvModel> read_gguf_model(const GgufHeader& header, std::string_view read_as) {
  const GgufValue* own = header.find("general.architecture");
  if (own == nullptr || own->kind != GgufValue::Kind::kText || own->text.empty())
    return Status(Code::kInvalid,
                  "general.architecture is missing; of a model in several files, name the first");
  const Result<const GgufArch*> arch = arch_of(own->text, read_as);
  if (!arch.is_ok()) return arch.status();
  GgufKeys keys(header, own->text);
  KvModel model{.name = own->text, .dtype = std::string(kCacheDtype)};
  model.tokens_max = keys.number("context_length", 0);
  add_layers(*arch.value(), keys, model);
  if (!keys.status().is_ok())
    return Status(keys.status().code(), keys.status().message() + std::string(kCure));
  add_notes(*arch.value(), keys, model);
  if (Status status = model.check(); !status.is_ok()) return status;
  return model;
}

}  // namespace kvtier::plan
