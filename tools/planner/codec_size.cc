#include "tools/planner/codec_size.h"

#include <algorithm>
#include <array>
#include <functional>

#include "libkvclient/base/units.h"

namespace kvtier::plan {
namespace {

constexpr std::uint64_t kMetadataPadding = 16;
constexpr std::uint64_t kScaleBytes = 2;        ///< bf16
constexpr std::uint64_t kScaleAndMinBytes = 4;  ///< bf16 and the source's 16 bits
constexpr std::uint64_t kValueGroup = 64;       ///< i4c: values of V that share scale and min
constexpr std::array<std::uint64_t, 4> kKeyGroups = {128, 64, 32,
                                                     16};  ///< i4c: tokens likewise of a channel of K

struct Block {
  std::uint64_t tokens = 0;
  DType dtype;
};

// Tokens of a block in the classes of `mix`: the shares of the format's test vector.
struct MixClasses {
  std::uint64_t i8 = 0;
  std::uint64_t i4 = 0;
  std::uint64_t i2 = 0;
};

constexpr std::uint64_t up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit;
}

MixClasses mix_classes(std::uint64_t tokens) {
  const std::uint64_t quarter = tokens / 4;
  return {.i8 = quarter, .i4 = tokens - 2 * quarter, .i2 = quarter};
}

std::uint64_t laid_out(std::uint64_t metadata, std::uint64_t codes) {
  return round_up(metadata, kMetadataPadding) + codes;
}

// The largest documented group of tokens that divides the block; 0: none.
std::uint64_t key_group(std::uint64_t tokens) {
  const auto* const group =
      std::ranges::find_if(kKeyGroups, [&](std::uint64_t each) { return tokens % each == 0; });
  return group == kKeyGroups.end() ? 0 : *group;
}

// Below, a raw block is at most 1 GiB: nothing here comes near 64 bits.
struct PartRows {
  explicit PartRows(const LayerGroup& group)
      : layers(group.layers.size()),
        heads(layers * group.kv.heads),
        key_dim(group.kv.key_dim),
        value_dim(group.kv.value_dim) {}

  [[nodiscard]] std::uint64_t rows_a_token() const { return heads * (value_dim == 0 ? 1 : 2); }
  /// Codes of `bits` bits of a token, each row in whole bytes.
  [[nodiscard]] std::uint64_t codes_a_token(std::uint64_t bits) const {
    return heads * (up(key_dim * bits, 8) + up(value_dim * bits, 8));
  }

  std::uint64_t layers;
  std::uint64_t heads;  ///< of all layers
  std::uint64_t key_dim;
  std::uint64_t value_dim;
};

std::uint64_t i8t_bytes(const PartRows& part, const Block& block) {
  return laid_out(block.tokens * part.rows_a_token() * kScaleBytes, block.tokens * part.codes_a_token(8));
}

std::uint64_t i4a_bytes(const PartRows& part, const Block& block) {
  return laid_out(block.tokens * part.rows_a_token() * kScaleAndMinBytes,
                  block.tokens * part.codes_a_token(4));
}

std::uint64_t i4c_bytes(const PartRows& part, const Block& block) {
  const std::uint64_t keys = part.heads * part.key_dim * (block.tokens / key_group(block.tokens));
  const std::uint64_t values = block.tokens * part.heads * up(part.value_dim, kValueGroup);
  return laid_out((keys + values) * kScaleAndMinBytes, block.tokens * part.codes_a_token(4));
}

std::uint64_t mix_bytes(const PartRows& part, const Block& block) {
  const MixClasses classes = mix_classes(block.tokens);
  const std::uint64_t map = up(block.tokens * 2, 8);
  const std::uint64_t codes = classes.i8 * part.codes_a_token(8) + classes.i4 * part.codes_a_token(4) +
                              classes.i2 * part.codes_a_token(2);
  return laid_out(map + block.tokens * part.rows_a_token() * kScaleAndMinBytes, codes);
}

// A layer's K or V that does not shrink is stored as it is behind a flag.
std::uint64_t xpl_bytes_max(const PartRows& part, const Block& block) {
  const std::uint64_t values = block.tokens * part.heads * (part.key_dim + part.value_dim);
  const std::uint64_t flags = part.layers * (part.value_dim == 0 ? 1 : 2);
  return values * block.dtype.group_bytes + flags;
}

struct Format {
  Codec codec;
  std::string_view name;
  Exactness exactness;
  std::uint64_t (*part_bytes)(const PartRows&, const Block&);  ///< null: raw
};

constexpr std::array<Format, 6> kFormats = {{{Codec::kRaw, "raw", Exactness::kExact, nullptr},
                                             {Codec::kI8t, "i8t", Exactness::kExact, i8t_bytes},
                                             {Codec::kXpl, "xpl", Exactness::kBound, xpl_bytes_max},
                                             {Codec::kI4a, "i4a", Exactness::kExact, i4a_bytes},
                                             {Codec::kI4c, "i4c", Exactness::kExact, i4c_bytes},
                                             {Codec::kMix, "mix", Exactness::kAssumed, mix_bytes}}};

bool has_only_heads(const KvModel& model) {
  return std::ranges::all_of(model.groups, [](const LayerGroup& group) {
    return group.kv.kind == LayerKind::kNone || group.kv.rows == RowKind::kHeads;
  });
}

std::string refusal_of(Codec codec, const KvModel& model, const Block& block) {
  if (codec == Codec::kRaw) return {};
  if (codec == Codec::kXpl)
    return block.dtype.name == "bf16" ? "" : "documented for bf16, not for " + std::string(block.dtype.name);
  if (!block.dtype.is_half())
    return "documented for f16 and bf16; what the engine packed itself (" + std::string(block.dtype.name) +
           ") stays raw";
  if (!has_only_heads(model)) return "documented for K and V rows of heads, not for latent or indexer rows";
  if (codec == Codec::kI4c && key_group(block.tokens) == 0)
    return "groups of 16, 32, 64 or 128 tokens do not divide a block of " + std::to_string(block.tokens);
  return {};
}

std::string note_of(Codec codec, const Block& block) {
  const MixClasses mix = mix_classes(block.tokens);
  switch (codec) {
    case Codec::kRaw:
      return "as the engine wrote it";
    case Codec::kI8t:
      return "a bf16 scale a row";
    case Codec::kXpl:
      return "lossless: at most the raw bytes and a flag a layer's K or V; how much less is known once "
             "encoded";
    case Codec::kI4a:
      return "scale and min a row; its tables, once a space, are not counted";
    case Codec::kI4c:
      return "K in groups of " + std::to_string(key_group(block.tokens)) +
             " tokens, V in groups of 64 values";
    case Codec::kMix:
      break;
  }
  return "tokens in 8, 4 and 2 bits: " + std::to_string(mix.i8) + ", " + std::to_string(mix.i4) + ", " +
         std::to_string(mix.i2) + "; the engine's scores decide";
}

Result<CodecSize> coded(const Format& format, const KvModel& model, const Block& block) {
  CodecSize result{.codec = format.codec, .exactness = format.exactness};
  result.refusal = refusal_of(format.codec, model, block);
  if (!result.refusal.empty()) return result;
  result.note = note_of(format.codec, block);
  std::vector<std::uint64_t> parts;
  for (const LayerGroup& group : model.groups) {
    if (group.kv.kind != LayerKind::kNone) parts.push_back(format.part_bytes(PartRows(group), block));
  }
  const Result<std::uint64_t> bytes = packed_bytes(parts);
  if (!bytes.is_ok()) return bytes.status();
  result.size = payload_size(bytes.value());
  return result;
}

}  // namespace

std::string_view codec_name(Codec codec) {
  return std::ranges::find(kFormats, codec, &Format::codec)->name;
}

std::string_view exactness_name(Exactness exactness) {
  switch (exactness) {
    case Exactness::kExact:
      return "exact";
    case Exactness::kBound:
      return "bound";
    case Exactness::kAssumed:
      break;
  }
  return "assumed";
}

bool is_in_build(Codec codec) {
  return codec == Codec::kRaw;
}

Result<std::vector<CodecSize>> codec_sizes(const KvModel& model, const DType& dtype,
                                           std::uint64_t block_tokens) {
  const Result<PayloadSize> raw = raw_block_size(model, dtype, block_tokens);
  if (!raw.is_ok()) return raw.status();
  const Block block{block_tokens, dtype};
  std::vector<CodecSize> sizes = {{.size = raw.value(), .note = note_of(Codec::kRaw, block)}};
  for (const Format& format : kFormats) {
    if (format.codec == Codec::kRaw) continue;
    Result<CodecSize> size = coded(format, model, block);
    if (!size.is_ok()) return size.status();
    sizes.push_back(std::move(size).value());
  }
  return sizes;
}

}  // namespace kvtier::plan
