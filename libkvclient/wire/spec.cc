#include "libkvclient/wire/spec.h"

#include <algorithm>
#include <array>
#include <set>

#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

constexpr std::array<std::string_view, 24> kDtypes = {
    "f64",     "f32",  "f16",    "bf16", "tf32", "f8_e4m3", "f8_e5m2", "f8_e8m0",
    "f4_e2m1", "i8",   "u8",     "i4",   "u4",   "q8_0",    "q4_0",    "q4_1",
    "q5_0",    "q5_1", "iq4_nl", "i16",  "i32",  "i64",     "bool",    "bytes"};

Status wrong(const std::string& field, const std::string& why) {
  return {Code::kInvalid, "spec: " + field + " " + why};
}

Status check_text(const std::string& field, const std::string& value) {
  return value.empty() ? wrong(field, "is empty; it must be said") : Status::ok();
}

Status check_dtype(const std::string& field, const std::string& dtype) {
  if (std::find(kDtypes.begin(), kDtypes.end(), dtype) != kDtypes.end()) return Status::ok();
  std::string known;
  for (const std::string_view name : kDtypes) known += (known.empty() ? "" : ", ") + std::string(name);
  return wrong(field, "is \"" + dtype + "\"; known: " + known);
}

Status check_part(const std::string& field, const SpecPart& part) {
  KV_RETURN_IF_ERROR(check_text(field + ".name", part.name));
  if (part.bytes == 0) return wrong(field + ".bytes", "is 0");
  if (part.bytes > kBlockBytesMax) {
    return wrong(field + ".bytes",
                 "is " + std::to_string(part.bytes) + "; at most " + std::to_string(kBlockBytesMax));
  }
  if (part.layer_count == 0) return wrong(field + ".layer_count", "is 0");
  KV_RETURN_IF_ERROR(check_dtype(field + ".dtype", part.dtype));
  return check_text(field + ".layout", part.layout);
}

Status check_parts(const Spec& spec) {
  if (spec.parts.empty() || spec.parts.size() > kPartsMax) {
    return wrong("parts", "has " + std::to_string(spec.parts.size()) + " entries; 1 to " +
                              std::to_string(kPartsMax) + " are allowed");
  }
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < spec.parts.size(); ++i) {
    const std::string field = "parts[" + std::to_string(i) + "]";
    KV_RETURN_IF_ERROR(check_part(field, spec.parts[i]));
    if (!names.insert(spec.parts[i].name).second) {
      return wrong(field + ".name", "repeats \"" + spec.parts[i].name + "\"");
    }
  }
  if (spec.block_bytes() > kBlockBytesMax) {
    return wrong("parts",
                 "sum up to " + format_size(spec.block_bytes()) + "; at most " + format_size(kBlockBytesMax));
  }
  return Status::ok();
}

Status check_shard(const SpecShard& shard) {
  if (shard.max_tp == 0) return wrong("shard.max_tp", "is 0");
  if (shard.kv_head_count == 0) return wrong("shard.kv_head_count", "is 0");
  if (shard.layer_count == 0) return wrong("shard.layer_count", "is 0");
  return Status::ok();
}

Status check_map(const std::string& field, const std::map<std::string, std::string>& map) {
  const bool has_nameless = map.count("") != 0;
  return has_nameless ? wrong(field, "has an entry without a name") : Status::ok();
}

}  // namespace

std::span<const std::string_view> spec_dtypes() {
  return kDtypes;
}

std::uint64_t Spec::part_offset(std::size_t i) const {
  KV_CHECK(i <= parts.size(), "a part index");
  std::uint64_t offset = 0;
  for (std::size_t k = 0; k < i; ++k) offset = round_up(offset + parts[k].bytes, kPartAlignment);
  return offset;
}

std::uint64_t Spec::block_bytes() const {
  return parts.empty() ? 0 : part_offset(parts.size() - 1) + parts.back().bytes;
}

Status validate_spec(const Spec& spec) {
  KV_RETURN_IF_ERROR(check_text("model", spec.model));
  KV_RETURN_IF_ERROR(check_text("revision", spec.revision));
  KV_RETURN_IF_ERROR(check_text("tokenizer", spec.tokenizer));
  if (spec.block_tokens == 0 || spec.block_tokens > kBlockTokensMax) {
    return wrong("block_tokens",
                 "is " + std::to_string(spec.block_tokens) + "; 1 to " + std::to_string(kBlockTokensMax));
  }
  KV_RETURN_IF_ERROR(check_parts(spec));
  KV_RETURN_IF_ERROR(check_map("rope", spec.rope));
  KV_RETURN_IF_ERROR(check_text("codec", spec.codec));
  if (spec.shard) KV_RETURN_IF_ERROR(check_shard(*spec.shard));
  return check_map("extra", spec.extra);
}

Result<Digest> spec_digest(const Spec& spec) {
  const Result<std::vector<std::byte>> encoding = encode_spec(spec);
  if (!encoding.is_ok()) return encoding.status();
  return sha256(encoding.value());
}

}  // namespace kvtier
