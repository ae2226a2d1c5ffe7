#include "daemon/config/reload.h"

#include <map>

#include "daemon/config/describe.h"
#include "daemon/config/settings_table.h"

namespace kvtier {
namespace {

// 1GiB and 1024MiB are one value.
bool is_same(const SettingValue& before, const SettingValue& after) {
  const bool is_text = before.number == 0 && after.number == 0;
  return before.number == after.number && (!is_text || before.text == after.text);
}

std::map<std::string, std::string> list_values(const Config& config, std::string_view prefix) {
  std::map<std::string, std::string> values;
  for (const ConfigRow& row : describe(config)) {
    if (row.path.starts_with(prefix)) values[row.path] = row.value;
  }
  return values;
}

// Of the entries of a list.
void add_list_changes(const Config& before, const Config& after, std::string_view prefix, Reload reload,
                      std::vector<SettingChange>& changes) {
  const std::map<std::string, std::string> old_values = list_values(before, prefix);
  std::map<std::string, std::string> new_values = list_values(after, prefix);
  for (const auto& [path, value] : old_values) {
    const std::string now = new_values[path];
    if (now != value) changes.push_back({path, value, now, reload});
    new_values.erase(path);
  }
  for (const auto& [path, value] : new_values) changes.push_back({path, "", value, reload});
}

}  // namespace

std::vector<SettingChange> changed_settings(const Config& before, const Config& after) {
  std::vector<SettingChange> changes;
  const auto table = settings_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const SettingValue& old_value = before.effective[i].value;
    const SettingValue& new_value = after.effective[i].value;
    if (is_same(old_value, new_value)) continue;
    const SettingInfo& info = table[i].info;
    changes.push_back({std::string(info.path), old_value.text, new_value.text, info.reload});
  }
  add_list_changes(before, after, "nvme.paths[", Reload::kRestart, changes);
  add_list_changes(before, after, "namespaces.", Reload::kLive, changes);
  return changes;
}

std::shared_ptr<const Config> with_live_settings(const Config& before, const Config& after) {
  auto config = std::make_shared<Config>(before);
  const auto table = settings_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].info.reload != Reload::kLive) continue;
    config->effective[i] = after.effective[i];
    table[i].store(*config, config->effective[i].value);
  }
  config->namespaces = after.namespaces;
  return config;
}

}  // namespace kvtier
