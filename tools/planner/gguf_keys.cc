#include "tools/planner/gguf_keys.h"

#include <algorithm>

namespace kvtier::plan {
namespace {

constexpr std::uint64_t kNumberMax = 1ULL << 53;  ///< sums of a few cannot wrap

bool is_sound(const GgufValue& value) {
  return !value.is_negative &&
         std::ranges::all_of(value.numbers, [](std::uint64_t each) { return each <= kNumberMax; });
}

}  // namespace

const GgufValue* GgufKeys::find(std::string_view key) const {
  return header_.find(prefix_ + "." + std::string(key));
}

void GgufKeys::fail(std::string message) {
  if (status_.is_ok()) status_ = {Code::kInvalid, std::move(message)};
}

bool GgufKeys::is_list(std::string_view key) const {
  const GgufValue* value = find(key);
  return value != nullptr && value->kind != GgufValue::Kind::kNumber;
}

std::uint64_t GgufKeys::number(std::string_view key, std::uint64_t otherwise) {
  const GgufValue* value = find(key);
  if (value == nullptr || !status_.is_ok()) return otherwise;
  if (value->kind == GgufValue::Kind::kNumber && is_sound(*value)) return value->numbers.front();
  fail(prefix_ + "." + std::string(key) + " is no whole number that makes sense");
  return 0;
}

std::uint64_t GgufKeys::need(std::string_view key) {
  if (has(key)) return number(key, 0);
  fail(prefix_ + "." + std::string(key) + " is missing");
  return 0;
}

std::vector<std::uint64_t> GgufKeys::by_layer(std::string_view key, std::uint64_t layers) {
  const GgufValue* value = find(key);
  if (value == nullptr || !status_.is_ok()) return {};
  if (value->kind == GgufValue::Kind::kNumber) return std::vector<std::uint64_t>(layers, number(key, 0));
  const bool is_list = value->kind == GgufValue::Kind::kNumbers && is_sound(*value);
  if (is_list && value->numbers.size() == layers) return value->numbers;
  fail(prefix_ + "." + std::string(key) + " is no list of " + std::to_string(layers) +
       " whole numbers, one a layer");
  return {};
}

}  // namespace kvtier::plan
