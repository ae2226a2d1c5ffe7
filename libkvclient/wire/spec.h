#pragma once
// The KV spec: everything that makes the bytes of two blocks interchangeable. Its canonical encoding
// (WIRE.md, "Spec") is hashed into the space digest, so that blocks of different meaning can never answer
// each other. Two different specs never share an encoding, and a spec has exactly one.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libkvclient/base/digest.h"
#include "libkvclient/base/result.h"
#include "libkvclient/wire/limits.h"

namespace kvtier {

inline constexpr std::uint32_t kBlockTokensMax = 4096;
inline constexpr std::uint64_t kPartAlignment = 64;

/// A named byte range of a block: `kv`, and for hybrid models e.g. `swa`, `mamba`, `indexer`.
struct SpecPart {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint32_t layer_first = 0;
  std::uint32_t layer_count = 0;
  std::uint32_t kv_heads = 0;  ///< of this part in this shard; 0 where heads have no meaning
  std::uint32_t head_dim = 0;
  std::string dtype;   ///< one of spec_dtypes()
  std::string layout;  ///< dimension order, strides and K/V packing, spelled out; never guessed from sizes

  friend bool operator==(const SpecPart&, const SpecPart&) = default;
};

/// The part of the model that a block covers when ranks split it: heads come in units of kv_heads / max_tp.
struct SpecShard {
  std::uint32_t kv_head_first = 0;
  std::uint32_t kv_head_count = 0;
  std::uint32_t max_tp = 1;
  std::uint32_t layer_first = 0;
  std::uint32_t layer_count = 0;

  friend bool operator==(const SpecShard&, const SpecShard&) = default;
};

struct Spec {
  std::string model;
  std::string revision;   ///< lineage of the weights: commit, file digest
  std::string adapter;    ///< name and revision of a LoRA adapter; empty: none
  std::string tokenizer;  ///< hash of the tokenizer
  std::uint32_t block_tokens = 16;
  std::vector<SpecPart> parts;              ///< in the order in which they lie in a block
  std::map<std::string, std::string> rope;  ///< RoPE parameters as text, one form per value
  std::string codec = "raw";
  std::optional<SpecShard> shard;            ///< none: the whole model
  std::map<std::string, std::string> extra;  ///< whatever else changes the bytes

  friend bool operator==(const Spec&, const Spec&) = default;

  /// Offset of part i: parts in order, each at a multiple of kPartAlignment. i <= parts.size().
  [[nodiscard]] std::uint64_t part_offset(std::size_t i) const;
  /// End of the last part.
  [[nodiscard]] std::uint64_t block_bytes() const;
};

/// The dtypes that a part may name.
std::span<const std::string_view> spec_dtypes();

/// kInvalid, naming the field, what it holds and what it may hold.
Status validate_spec(const Spec& spec);

/// The canonical encoding; fails as validate_spec, or when it is longer than kSpecBytesMax.
Result<std::vector<std::byte>> encode_spec(const Spec& spec);

/// Accepts exactly what encode_spec produces; kInvalid names the field that is wrong.
Result<Spec> decode_spec(std::span<const std::byte> bytes);

/// SHA-256 of the encoding: the space digest.
Result<Digest> spec_digest(const Spec& spec);

/// Every field as name and text, in a fixed order: "model", "parts[0].dtype", "rope.freq_base", ...
std::vector<std::pair<std::string, std::string>> spec_fields(const Spec& spec);

/// The first field that differs, with both values: `parts[0].dtype: "f16" and "i8"`. Empty: equal.
std::string spec_difference(const Spec& a, const Spec& b);

}  // namespace kvtier
