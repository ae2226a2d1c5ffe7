#include "tools/planner/config_object.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace kvtier::plan {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kListMax = 65'536;
constexpr std::size_t kShownMax = 40;
constexpr std::uint64_t kNumberMax = 1ULL
                                     << 53;  ///< what every JSON writer can write; sums of a few cannot wrap

std::string shown(const Json& value) {
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= kShownMax ? text : text.substr(0, kShownMax) + "...";
}

// Python writes infinities and NaN as no JSON has them (time limits of mamba layers, for one): they become null, which
// no key that is read here may be. Inside texts nothing is touched.
std::string without_infinities(std::string_view text) {
  constexpr std::array<std::string_view, 3> kWords = {"-Infinity", "Infinity", "NaN"};
  std::string out;
  out.reserve(text.size());
  bool is_in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto* const word = std::ranges::find_if(
        kWords, [&](std::string_view each) { return !is_in_text && text.substr(i).starts_with(each); });
    if (word != kWords.end()) {
      out += "null";
      i += word->size() - 1;
      continue;
    }
    if (text[i] == '"') is_in_text = !is_in_text;
    out += text[i];
    if (is_in_text && text[i] == '\\' && i + 1 < text.size()) out += text[++i];
  }
  return out;
}

std::string joined(std::initializer_list<std::string_view> keys) {
  std::string text;
  for (const std::string_view key : keys) text += (text.empty() ? "" : " or ") + std::string(key);
  return text;
}

}  // namespace

ConfigObject::ConfigObject(std::shared_ptr<const Json> root, const Json* object, std::string prefix)
    : root_(std::move(root)), object_(object), prefix_(std::move(prefix)) {}

Result<ConfigObject> ConfigObject::parse(std::string_view text) {
  try {
    auto root = std::make_shared<const Json>(Json::parse(without_infinities(text)));
    if (!root->is_object()) return Status(Code::kInvalid, "it is JSON but no object, as a config.json is");
    const Json* object = root.get();
    return ConfigObject(std::move(root), object, "");
  } catch (const Json::exception& error) {
    return Status(Code::kInvalid, std::string("it is no JSON: ") + error.what());
  }
}

std::optional<ConfigObject> ConfigObject::child(std::initializer_list<std::string_view> keys) const {
  for (const std::string_view key : keys) {
    const auto at = object_->find(std::string(key));
    if (at != object_->end() && at->is_object())
      return ConfigObject(root_, &*at, prefix_ + std::string(key) + ".");
  }
  return {};
}

const Json* ConfigObject::find(std::string_view key) {
  asked_.emplace(key);
  const auto at = object_->find(std::string(key));
  return at == object_->end() || at->is_null() || !status_.is_ok() ? nullptr : &*at;
}

bool ConfigObject::has(std::string_view key) const {
  const auto at = object_->find(std::string(key));
  return at != object_->end() && !at->is_null();
}

bool ConfigObject::is_null(std::string_view key) {
  asked_.emplace(key);
  const auto at = object_->find(std::string(key));
  return at != object_->end() && at->is_null();
}

bool ConfigObject::says(std::string_view key) const {
  if (!has(key)) return false;
  const Json& value = *object_->find(std::string(key));
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value != 0;
  return value.is_string() ? !value.get_ref<const std::string&>().empty() : !value.empty();
}

void ConfigObject::fail(std::string message) {
  if (status_.is_ok()) status_ = {Code::kInvalid, std::move(message)};
}

void ConfigObject::wrong(std::string_view key, std::string_view expected) {
  fail(prefix_ + std::string(key) + " is " + shown(*object_->find(std::string(key))) + ", not " +
       std::string(expected));
}

std::uint64_t ConfigObject::whole(std::string_view key, const Json& value, std::uint64_t min) {
  const bool is_whole = value.is_number_unsigned() && value.get<std::uint64_t>() <= kNumberMax;
  if (is_whole && value.get<std::uint64_t>() >= min) return value.get<std::uint64_t>();
  wrong(key, min == 0 ? "a whole number" : "a whole number above 0");
  return 0;
}

std::uint64_t ConfigObject::need(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const Json* value = find(key); value != nullptr) return whole(key, *value, 1);
  }
  fail(prefix_ + joined(keys) + " is missing");
  return 0;
}

std::uint64_t ConfigObject::number(std::initializer_list<std::string_view> keys, std::uint64_t otherwise) {
  const bool is_there = std::ranges::any_of(keys, [&](std::string_view key) { return has(key); });
  for (const std::string_view key : keys) asked_.emplace(key);
  return is_there ? need(keys) : otherwise;
}

std::uint64_t ConfigObject::count(std::string_view key, std::uint64_t otherwise) {
  const Json* value = find(key);
  return value == nullptr ? otherwise : whole(key, *value, 0);
}

bool ConfigObject::flag(std::string_view key, bool otherwise) {
  const Json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) wrong(key, "true or false");
  return value->is_boolean() && value->get<bool>();
}

std::string ConfigObject::text(std::string_view key) {
  const Json* value = find(key);
  if (value == nullptr) return {};
  if (!value->is_string()) wrong(key, "a text");
  return value->is_string() ? value->get<std::string>() : "";
}

std::vector<std::string> ConfigObject::texts(std::string_view key) {
  const Json* list = find(key);
  std::vector<std::string> all;
  if (list == nullptr) return all;
  if (!list->is_array() || list->size() > kListMax ||
      !std::ranges::all_of(*list, [](const Json& each) { return each.is_string(); })) {
    wrong(key, "a list of texts");
    return all;
  }
  for (const Json& each : *list) all.push_back(each.get<std::string>());
  return all;
}

std::vector<std::uint64_t> ConfigObject::numbers(std::string_view key) {
  const Json* list = find(key);
  std::vector<std::uint64_t> all;
  if (list == nullptr) return all;
  if (!list->is_array() || list->size() > kListMax) {
    wrong(key, "a list of whole numbers");
    return all;
  }
  for (const Json& each : *list) all.push_back(whole(key, each, 0));
  return all;
}

void ConfigObject::pass_over(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) asked_.emplace(key);
}

std::vector<std::string> ConfigObject::unread() const {
  std::vector<std::string> all;
  for (const auto& [key, value] : object_->items()) {
    if (!asked_.contains(key) && says(key)) all.push_back(key);
  }
  return all;
}

}  // namespace kvtier::plan
