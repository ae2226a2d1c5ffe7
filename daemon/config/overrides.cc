#include "daemon/config/overrides.h"

#include <algorithm>
#include <array>

#include "daemon/config/nearest_name.h"
#include "daemon/config/settings_table.h"

namespace kvtier {
namespace {

constexpr std::string_view kPrefix = "KVTIER_";
// Variables with this prefix that others read: fault points, the descriptor stores.
constexpr std::array<std::string_view, 4> kForeign = {"KVTIER_FAULTS", "KVTIER_FAULT_SEED",
                                                      "KVTIER_KEEPER_FD", "KVTIER_FD_STORE"};
constexpr std::size_t kMisspellingMax = 2;

void complain_unknown(const std::string& name, std::vector<Complaint>& errors,
                      std::vector<Complaint>& warnings) {
  std::vector<std::string> names;
  for (const auto& row : settings_table()) names.push_back(environment_name(row.info.path));
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string_view nearest = nearest_name(name, candidates);
  const bool is_misspelt = !nearest.empty() && edit_distance(name, nearest) <= kMisspellingMax;
  const std::string fix =
      is_misspelt ? "did you mean " + std::string(nearest) + "?" : "it has no effect here";
  (is_misspelt ? errors : warnings).push_back({name, 0, "", "no setting has this variable", fix});
}

}  // namespace

std::string environment_name(std::string_view path) {
  std::string name(kPrefix);
  for (const char c : path) {
    const bool is_lower = c >= 'a' && c <= 'z';
    name += c == '.' ? '_' : is_lower ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return name;
}

void apply_environment(std::span<const std::string> environment, EffectiveValues& values,
                       std::vector<Complaint>& errors, std::vector<Complaint>& warnings) {
  for (const std::string& variable : environment) {
    const std::size_t equals = variable.find('=');
    const std::string name = variable.substr(0, equals);
    if (equals == std::string::npos || !name.starts_with(kPrefix)) continue;
    if (std::ranges::find(kForeign, name) != kForeign.end()) continue;
    const auto row = std::ranges::find_if(
        settings_table(), [&](const auto& each) { return environment_name(each.info.path) == name; });
    if (row == settings_table().end()) {
      complain_unknown(name, errors, warnings);
    } else {
      const SourcePlace place{SettingSource::kEnvironment, name, 0};
      values.set(row->info.path, {std::string_view(variable).substr(equals + 1), false}, place, errors);
    }
  }
}

void apply_sets(std::span<const std::string> sets, EffectiveValues& values, std::vector<Complaint>& errors) {
  const SourcePlace place{SettingSource::kFlag, "--set", 0};
  for (const std::string& set : sets) {
    const std::size_t equals = set.find('=');
    const std::string path = set.substr(0, equals);
    if (equals == std::string::npos || equals == 0) {
      errors.push_back({"--set", 0, set.substr(0, 80), "has no value", "write --set host.bytes=4GiB"});
    } else if (path.starts_with("namespaces") || path.starts_with("nvme.paths")) {
      const std::string list = path.starts_with("nvme") ? "nvme.paths" : "namespaces";
      errors.push_back({"--set", 0, path.substr(0, 80), "is a list", "write " + list + " in the file"});
    } else {
      values.set(path, {std::string_view(set).substr(equals + 1), false}, place, errors);
    }
  }
}

}  // namespace kvtier
