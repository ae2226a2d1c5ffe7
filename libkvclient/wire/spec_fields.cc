#include <algorithm>

#include "libkvclient/wire/spec.h"

namespace kvtier {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

void add_map(Fields& fields, const std::string& name, const std::map<std::string, std::string>& map) {
  const std::string prefix = name + ".";
  for (const auto& [key, value] : map) fields.emplace_back(prefix + key, value);
}

void add_part(Fields& fields, const std::string& name, const SpecPart& part) {
  fields.emplace_back(name + ".name", part.name);
  fields.emplace_back(name + ".bytes", std::to_string(part.bytes));
  fields.emplace_back(name + ".layer_first", std::to_string(part.layer_first));
  fields.emplace_back(name + ".layer_count", std::to_string(part.layer_count));
  fields.emplace_back(name + ".kv_heads", std::to_string(part.kv_heads));
  fields.emplace_back(name + ".head_dim", std::to_string(part.head_dim));
  fields.emplace_back(name + ".dtype", part.dtype);
  fields.emplace_back(name + ".layout", part.layout);
}

void add_shard(Fields& fields, const std::optional<SpecShard>& shard) {
  if (!shard) return fields.emplace_back("shard", "none"), void();
  fields.emplace_back("shard.kv_head_first", std::to_string(shard->kv_head_first));
  fields.emplace_back("shard.kv_head_count", std::to_string(shard->kv_head_count));
  fields.emplace_back("shard.max_tp", std::to_string(shard->max_tp));
  fields.emplace_back("shard.layer_first", std::to_string(shard->layer_first));
  fields.emplace_back("shard.layer_count", std::to_string(shard->layer_count));
}

std::string both(const std::string& name, const std::string& a, const std::string& b) {
  return name + ": " + a + " and " + b;
}

bool lacks(const Fields& fields, const std::string& name) {
  return std::none_of(fields.begin(), fields.end(), [&](const auto& field) { return field.first == name; });
}

std::string quoted(const std::string& text) {
  return "\"" + text + "\"";
}

}  // namespace

Fields spec_fields(const Spec& spec) {
  Fields fields;
  fields.emplace_back("model", spec.model);
  fields.emplace_back("revision", spec.revision);
  fields.emplace_back("adapter", spec.adapter);
  fields.emplace_back("tokenizer", spec.tokenizer);
  fields.emplace_back("block_tokens", std::to_string(spec.block_tokens));
  fields.emplace_back("parts.count", std::to_string(spec.parts.size()));
  for (std::size_t i = 0; i < spec.parts.size(); ++i) {
    add_part(fields, "parts[" + std::to_string(i) + "]", spec.parts[i]);
  }
  add_map(fields, "rope", spec.rope);
  fields.emplace_back("codec", spec.codec);
  add_shard(fields, spec.shard);
  add_map(fields, "extra", spec.extra);
  return fields;
}

std::string spec_difference(const Spec& a, const Spec& b) {
  const Fields left = spec_fields(a);
  const Fields right = spec_fields(b);
  for (std::size_t i = 0; i < left.size() && i < right.size(); ++i) {
    if (left[i] == right[i]) continue;
    if (left[i].first == right[i].first) {
      return both(left[i].first, quoted(left[i].second), quoted(right[i].second));
    }
    // Only maps and the shard have fields that the other side may lack.
    return lacks(right, left[i].first) ? both(left[i].first, quoted(left[i].second), "none")
                                       : both(right[i].first, "none", quoted(right[i].second));
  }
  if (left.size() > right.size()) return both(left[right.size()].first, "present", "none");
  if (left.size() < right.size()) return both(right[left.size()].first, "none", "present");
  return {};
}

}  // namespace kvtier
