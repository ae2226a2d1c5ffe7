#include "daemon/config/effective_values.h"

#include <algorithm>

#include "daemon/config/nearest_name.h"
#include "daemon/config/settings_table.h"

namespace kvtier {
namespace {

std::string_view last_word(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

std::vector<std::string_view> all_names() {
  std::vector<std::string_view> names = {"namespaces", "nvme.paths"};
  for (const auto& row : settings_table()) {
    names.push_back(row.info.path);
    const std::size_t dot = row.info.path.find('.');
    const std::string_view section = row.info.path.substr(0, dot);
    if (std::ranges::find(names, section) == names.end()) names.push_back(section);
  }
  return names;
}

// A right name in the wrong section is meant more likely than a similar one.
std::string_view same_last_word(std::string_view path) {
  for (const auto& row : settings_table()) {
    if (last_word(row.info.path) == last_word(path)) return row.info.path;
  }
  return {};
}

}  // namespace

EffectiveValues::EffectiveValues() {
  for (const auto& row : settings_table()) {
    Result<SettingValue> value = parse_setting(row.info, {row.info.default_text, false});
    KV_CHECK(value.is_ok(), "the default of a setting is one of its values");
    values_.push_back({std::move(value).value(), SettingSource::kDefault, ""});
  }
}

void EffectiveValues::set(std::string_view path, SettingText text, const SourcePlace& place,
                          std::vector<Complaint>& complaints) {
  const Setting<Config>* row = find_setting(path);
  if (row == nullptr) return complaints.push_back(unknown_setting(path, place));
  Result<SettingValue> value = parse_setting(row->info, text);
  if (!value.is_ok()) return complaints.push_back(complaint_from(value.status(), path, place));
  std::string where = place.where;
  if (place.line > 0) where += ":" + std::to_string(place.line);
  const auto index = static_cast<std::size_t>(row - settings_table().data());
  values_[index] = {std::move(value).value(), place.source, std::move(where)};
}

Complaint unknown_name(std::string_view name, const std::vector<std::string_view>& candidates,
                       const SourcePlace& place) {
  const std::string_view nearest = nearest_name(name, candidates);
  std::string fix = nearest.empty() ? "valid names are " + joined_names(candidates)
                                    : "did you mean " + std::string(nearest) + "?";
  return {place.where, place.line, std::string(name.substr(0, 128)), "unknown setting", std::move(fix)};
}

Complaint unknown_setting(std::string_view path, const SourcePlace& place) {
  const std::string_view moved = same_last_word(path);
  if (!moved.empty()) {
    return {place.where, place.line, std::string(path.substr(0, 128)), "unknown setting",
            "did you mean " + std::string(moved) + "?"};
  }
  return unknown_name(path, all_names(), place);
}

Complaint complaint_from(const Status& status, std::string_view path, const SourcePlace& place) {
  const std::string& message = status.message();
  const std::size_t cut = message.rfind("; ");
  const bool has_fix = cut != std::string::npos;
  return {place.where, place.line, std::string(path), message.substr(0, cut),
          has_fix ? message.substr(cut + 2) : std::string()};
}

}  // namespace kvtier
