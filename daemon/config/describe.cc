#include "daemon/config/describe.h"

#include "daemon/config/setting_value.h"
#include "daemon/config/settings_table.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

constexpr std::size_t kCommentWidth = 100;

std::string source_text(const EffectiveValue& value) {
  switch (value.source) {
    case SettingSource::kDefault:
      return "default";
    case SettingSource::kFile:
      return "file " + value.where;
    case SettingSource::kEnvironment:
      return "environment " + value.where;
    case SettingSource::kFlag:
      return "flag " + value.where;
  }
  return {};
}

std::string reload_text(Reload reload) {
  return reload == Reload::kLive ? "live" : "restart";
}

std::string joined_ids(const std::vector<std::uint32_t>& ids) {
  std::string text = "[";
  for (const std::uint32_t id : ids) text += (text.size() > 1 ? ", " : "") + std::to_string(id);
  return text + "]";
}

void describe_namespace(const NamespaceConfig& entry, std::vector<ConfigRow>& rows) {
  const std::string values[] = {entry.name, joined_ids(entry.owner_uids), joined_ids(entry.group_gids),
                                joined_ids(entry.reader_uids), format_size(entry.host_bytes_max)};
  static_assert(std::size(values) == 5, "one value a row of namespace_table()");
  const auto table = namespace_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const SettingInfo& info = table[i].info;
    rows.push_back({"namespaces." + entry.name + "." + std::string(info.path), values[i],
                    std::string(info.unit), "", reload_text(info.reload), std::string(info.effect)});
  }
}

void describe_nvme_path(const NvmePathConfig& entry, std::size_t number, std::vector<ConfigRow>& rows) {
  const std::string values[] = {entry.dir, format_size(entry.bytes)};
  static_assert(std::size(values) == 2, "one value a row of nvme_path_table()");
  const auto table = nvme_path_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const SettingInfo& info = table[i].info;
    rows.push_back({"nvme.paths[" + std::to_string(number) + "]." + std::string(info.path), values[i],
                    std::string(info.unit), "file " + entry.where, reload_text(info.reload),
                    std::string(info.effect)});
  }
}

std::string comment(std::string_view text, const std::string& indent) {
  std::string lines;
  while (!text.empty()) {
    std::size_t length = text.size();
    if (length > kCommentWidth) length = text.rfind(' ', kCommentWidth);
    lines += indent + "# " + std::string(text.substr(0, length)) + "\n";
    text.remove_prefix(std::min(text.size(), length + 1));
  }
  return lines;
}

std::string annotated(const SettingInfo& info, std::string_view name, const std::string& indent,
                      std::string_view value) {
  const std::string unit = info.unit.empty() ? "" : " (" + std::string(info.unit) + ")";
  const std::string change = info.reload == Reload::kLive ? "changes at run time" : "changes at restart";
  return comment(info.effect, indent) + comment(accepted_values(info) + unit + "; " + change, indent) +
         indent + std::string(name) + ": " + std::string(value) + "\n";
}

std::string yaml_value(const SettingInfo& info) {
  const bool is_list = info.type == SettingType::kUserList || info.type == SettingType::kGroupList;
  if (is_list) return "[]";
  return info.default_text.empty() ? "\"\"" : std::string(info.default_text);
}

// A list that is empty by default: its entries as comments, to be copied.
std::string annotated_nvme_paths() {
  std::string text =
      "  # Folders of the NVMe tier, each on a device of its own; none: there is no tier. Each entry:\n";
  for (const auto& row : nvme_path_table()) {
    text += comment(
        std::string(row.info.path) + ", " + accepted_values(row.info) + ": " + std::string(row.info.effect),
        "  ");
  }
  return text +
         "  # a list such as [{dir: /mnt/nvme0/kvtier, bytes: 100GiB}]; changes at restart\n  paths: []\n";
}

std::string annotated_namespaces() {
  std::string text = "\n# Tenants: clients see blocks of their own namespace only.\nnamespaces:\n";
  bool is_first = true;
  for (const auto& row : namespace_table()) {
    const std::string name = (is_first ? "- " : "") + std::string(row.info.path);
    text += annotated(row.info, name, is_first ? "  " : "    ", yaml_value(row.info));
    is_first = false;
  }
  return text;
}

}  // namespace

std::vector<ConfigRow> describe(const Config& config) {
  std::vector<ConfigRow> rows;
  const auto table = settings_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const SettingInfo& info = table[i].info;
    const EffectiveValue& value = config.effective[i];
    rows.push_back({std::string(info.path), value.value.text, std::string(info.unit), source_text(value),
                    reload_text(info.reload), std::string(info.effect)});
  }
  for (std::size_t i = 0; i < config.nvme.paths.size(); ++i)
    describe_nvme_path(config.nvme.paths[i], i, rows);
  for (const NamespaceConfig& entry : config.namespaces) describe_namespace(entry, rows);
  return rows;
}

std::string annotated_default() {
  std::string text =
      "# kvtierd.yaml: every setting at its default. Sizes carry a unit: 5GiB (2^30) and 5GB (10^9) differ.\n"
      "# Each can be overridden by a variable (KVTIER_HOST_BYTES=4GiB) and a flag (--set host.bytes=4GiB).\n"
      "# Generated from daemon/config/settings_table.cc.\n";
  std::string_view section;
  for (const auto& row : settings_table()) {
    const std::string_view path = row.info.path;
    const std::size_t dot = path.find('.');
    const std::string_view own = dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
    text += "\n";
    if (!own.empty() && own != section) text += std::string(own) + ":\n";
    if (own == "nvme" && own != section) text += annotated_nvme_paths() + "\n";
    section = own;
    const std::string_view name = own.empty() ? path : path.substr(dot + 1);
    text += annotated(row.info, name, own.empty() ? "" : "  ", yaml_value(row.info));
  }
  return text + annotated_namespaces();
}

}  // namespace kvtier
