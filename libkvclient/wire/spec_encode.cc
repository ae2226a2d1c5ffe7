#include <cstring>

#include "libkvclient/wire/spec.h"
#include "libkvclient/wire/spec_tags.h"

namespace kvtier {
namespace {

using Bytes = std::vector<std::byte>;

// A field is tag (u16), length (u32), value. Numbers are little endian and of fixed width.
class FieldWriter {
 public:
  void raw32(std::uint32_t value) { number(value, 4); }
  void text(SpecTag tag, const std::string& value) {
    head(tag, value.size());
    append(value.data(), value.size());
  }
  void integer(SpecTag tag, std::uint64_t value) {
    head(tag, 8);
    number(value, 8);
  }
  void nested(SpecTag tag, const FieldWriter& inner) {
    head(tag, inner.bytes_.size());
    append(inner.bytes_.data(), inner.bytes_.size());
  }
  void counted(const std::string& value) {
    number(value.size(), 4);
    append(value.data(), value.size());
  }
  void counted(const FieldWriter& inner) {
    number(inner.bytes_.size(), 4);
    append(inner.bytes_.data(), inner.bytes_.size());
  }
  Bytes take() { return std::move(bytes_); }

 private:
  void head(SpecTag tag, std::size_t length) {
    number(static_cast<std::uint16_t>(tag), 2);
    number(length, 4);
  }
  void number(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void append(const void* data, std::size_t length) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), begin, begin + length);
  }

  Bytes bytes_;
};

FieldWriter encode_part(const SpecPart& part) {
  FieldWriter out;
  out.text(SpecTag::kPartName, part.name);
  out.integer(SpecTag::kPartBytes, part.bytes);
  out.integer(SpecTag::kPartLayerFirst, part.layer_first);
  out.integer(SpecTag::kPartLayerCount, part.layer_count);
  out.integer(SpecTag::kPartKvHeads, part.kv_heads);
  out.integer(SpecTag::kPartHeadDim, part.head_dim);
  out.text(SpecTag::kPartDtype, part.dtype);
  out.text(SpecTag::kPartLayout, part.layout);
  return out;
}

FieldWriter encode_parts(const std::vector<SpecPart>& parts) {
  FieldWriter out;
  out.raw32(static_cast<std::uint32_t>(parts.size()));
  for (const SpecPart& part : parts) out.counted(encode_part(part));
  return out;
}

// std::map is sorted by name already, byte by byte.
FieldWriter encode_map(const std::map<std::string, std::string>& map) {
  FieldWriter out;
  out.raw32(static_cast<std::uint32_t>(map.size()));
  for (const auto& [name, value] : map) {
    out.counted(name);
    out.counted(value);
  }
  return out;
}

FieldWriter encode_shard(const std::optional<SpecShard>& shard) {
  FieldWriter out;
  if (!shard) return out;
  out.integer(SpecTag::kShardKvHeadFirst, shard->kv_head_first);
  out.integer(SpecTag::kShardKvHeadCount, shard->kv_head_count);
  out.integer(SpecTag::kShardMaxTp, shard->max_tp);
  out.integer(SpecTag::kShardLayerFirst, shard->layer_first);
  out.integer(SpecTag::kShardLayerCount, shard->layer_count);
  return out;
}

}  // namespace

Result<std::vector<std::byte>> encode_spec(const Spec& spec) {
  KV_RETURN_IF_ERROR(validate_spec(spec));
  FieldWriter out;
  out.raw32(kSpecMagic);
  out.raw32(kSpecVersion);
  out.text(SpecTag::kModel, spec.model);
  out.text(SpecTag::kRevision, spec.revision);
  out.text(SpecTag::kAdapter, spec.adapter);
  out.text(SpecTag::kTokenizer, spec.tokenizer);
  out.integer(SpecTag::kBlockTokens, spec.block_tokens);
  out.nested(SpecTag::kParts, encode_parts(spec.parts));
  out.nested(SpecTag::kRope, encode_map(spec.rope));
  out.text(SpecTag::kCodec, spec.codec);
  out.nested(SpecTag::kShard, encode_shard(spec.shard));
  out.nested(SpecTag::kExtra, encode_map(spec.extra));
  Bytes bytes = out.take();
  if (bytes.size() > kSpecBytesMax) {
    return Status(Code::kInvalid, "spec: its encoding has " + std::to_string(bytes.size()) +
                                      " bytes; at most " + std::to_string(kSpecBytesMax));
  }
  return bytes;
}

}  // namespace kvtier
