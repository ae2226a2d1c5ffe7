#include <algorithm>
#include <limits>

#include "libkvclient/wire/spec.h"
#include "libkvclient/wire/spec_tags.h"

namespace kvtier {
namespace {

using Span = std::span<const std::byte>;

// Reads fields in their one legal order. The first mistake sticks, with the name of its field.
class FieldReader {
 public:
  FieldReader(Span bytes, std::string prefix) : bytes_(bytes), prefix_(std::move(prefix)) {}

  [[nodiscard]] const Status& status() const { return status_; }
  void fail(const std::string& field, const std::string& why) {
    if (status_.is_ok()) status_ = Status(Code::kInvalid, "spec encoding: " + prefix_ + field + " " + why);
  }
  void adopt(const FieldReader& inner) {
    if (status_.is_ok()) status_ = inner.status_;
  }
  Span value(SpecTag tag, const char* field) {
    const std::uint64_t found = number(2, field);
    const std::uint64_t length = number(4, field);
    if (status_.is_ok() && found != static_cast<std::uint16_t>(tag)) {
      fail(field, "has tag " + std::to_string(found) + " where " +
                      std::to_string(static_cast<std::uint16_t>(tag)) + " is due");
    }
    return take(length, field);
  }
  std::string text(SpecTag tag, const char* field) { return as_text(value(tag, field)); }
  std::string counted_text(const char* field) { return as_text(counted(field)); }
  Span counted(const char* field) { return take(number(4, field), field); }
  std::uint64_t integer(SpecTag tag, const char* field) {
    FieldReader inner(value(tag, field), prefix_);
    const std::uint64_t result = inner.number(8, field);
    inner.expect_end(field);
    adopt(inner);
    return result;
  }
  std::uint32_t integer32(SpecTag tag, const char* field) {
    const std::uint64_t result = integer(tag, field);
    if (result > std::numeric_limits<std::uint32_t>::max()) fail(field, "does not fit 32 bits");
    return static_cast<std::uint32_t>(result);
  }
  std::uint64_t number(std::size_t width, const char* field) {
    std::uint64_t result = 0;
    const Span bytes = take(width, field);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      result |= std::uint64_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
    }
    return result;
  }
  void expect_end(const char* field) {
    if (!bytes_.empty()) fail(field, "is followed by " + std::to_string(bytes_.size()) + " bytes too many");
  }

 private:
  static std::string as_text(Span bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  Span take(std::uint64_t length, const char* field) {
    if (status_.is_ok() && length > bytes_.size()) fail(field, "is cut off");
    if (!status_.is_ok()) return {};
    const Span result = bytes_.first(length);
    bytes_ = bytes_.subspan(length);
    return result;
  }

  Span bytes_;
  std::string prefix_;
  Status status_;
};

SpecPart decode_part(FieldReader& in) {
  SpecPart part;
  part.name = in.text(SpecTag::kPartName, "name");
  part.bytes = in.integer(SpecTag::kPartBytes, "bytes");
  part.layer_first = in.integer32(SpecTag::kPartLayerFirst, "layer_first");
  part.layer_count = in.integer32(SpecTag::kPartLayerCount, "layer_count");
  part.kv_heads = in.integer32(SpecTag::kPartKvHeads, "kv_heads");
  part.head_dim = in.integer32(SpecTag::kPartHeadDim, "head_dim");
  part.dtype = in.text(SpecTag::kPartDtype, "dtype");
  part.layout = in.text(SpecTag::kPartLayout, "layout");
  in.expect_end("layout");
  return part;
}

void decode_parts(FieldReader& out, Spec& spec) {
  FieldReader in(out.value(SpecTag::kParts, "parts"), "");
  const std::uint64_t count = in.number(4, "parts");
  if (count > kPartsMax) in.fail("parts", "has " + std::to_string(count) + " entries");
  for (std::uint64_t i = 0; i < count && in.status().is_ok(); ++i) {
    FieldReader part(in.counted("parts"), "parts[" + std::to_string(i) + "].");
    spec.parts.push_back(decode_part(part));
    in.adopt(part);
  }
  in.expect_end("parts");
  out.adopt(in);
}

void decode_map(FieldReader& out, SpecTag tag, const char* field, std::map<std::string, std::string>& map) {
  FieldReader in(out.value(tag, field), "");
  const std::uint64_t count = in.number(4, field);
  for (std::uint64_t i = 0; i < count && in.status().is_ok(); ++i) {
    std::string name = in.counted_text(field);
    std::string value = in.counted_text(field);
    if (!map.empty() && map.rbegin()->first >= name) in.fail(field, "has names that are not in order");
    map.emplace_hint(map.end(), std::move(name), std::move(value));
  }
  in.expect_end(field);
  out.adopt(in);
}

void decode_shard(FieldReader& out, Spec& spec) {
  const Span bytes = out.value(SpecTag::kShard, "shard");
  if (bytes.empty()) return;
  FieldReader in(bytes, "shard.");
  SpecShard& shard = spec.shard.emplace();
  shard.kv_head_first = in.integer32(SpecTag::kShardKvHeadFirst, "kv_head_first");
  shard.kv_head_count = in.integer32(SpecTag::kShardKvHeadCount, "kv_head_count");
  shard.max_tp = in.integer32(SpecTag::kShardMaxTp, "max_tp");
  shard.layer_first = in.integer32(SpecTag::kShardLayerFirst, "layer_first");
  shard.layer_count = in.integer32(SpecTag::kShardLayerCount, "layer_count");
  in.expect_end("layer_count");
  out.adopt(in);
}

Spec decode_fields(FieldReader& in) {
  Spec spec;
  if (in.number(4, "magic") != kSpecMagic) in.fail("magic", "is wrong: not an encoded spec");
  if (const std::uint64_t version = in.number(4, "version"); version != kSpecVersion) {
    in.fail("version", "is " + std::to_string(version) + ", not " + std::to_string(kSpecVersion));
  }
  spec.model = in.text(SpecTag::kModel, "model");
  spec.revision = in.text(SpecTag::kRevision, "revision");
  spec.adapter = in.text(SpecTag::kAdapter, "adapter");
  spec.tokenizer = in.text(SpecTag::kTokenizer, "tokenizer");
  spec.block_tokens = in.integer32(SpecTag::kBlockTokens, "block_tokens");
  decode_parts(in, spec);
  decode_map(in, SpecTag::kRope, "rope", spec.rope);
  spec.codec = in.text(SpecTag::kCodec, "codec");
  decode_shard(in, spec);
  decode_map(in, SpecTag::kExtra, "extra", spec.extra);
  in.expect_end("extra");
  return spec;
}

}  // namespace

Result<Spec> decode_spec(std::span<const std::byte> bytes) {
  if (bytes.size() > kSpecBytesMax) {
    return Status(Code::kInvalid, "spec encoding: has " + std::to_string(bytes.size()) + " bytes; at most " +
                                      std::to_string(kSpecBytesMax));
  }
  FieldReader in(bytes, "");
  Spec spec = decode_fields(in);
  if (!in.status().is_ok()) return in.status();
  const Result<std::vector<std::byte>> again = encode_spec(spec);
  if (!again.is_ok()) return again.status();
  // Cannot differ by the reader above; kept because every key hangs on it.
  const bool is_same = std::equal(bytes.begin(), bytes.end(), again.value().begin(), again.value().end());
  if (!is_same) return Status(Code::kInvalid, "spec encoding: is not canonical");
  return spec;
}

}  // namespace kvtier
