#include "daemon/config/blame.h"

#include "daemon/config/settings_table.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

const EffectiveValue& value_of(const Config& config, std::string_view path) {
  return config.effective[static_cast<std::size_t>(find_setting(path) - settings_table().data())];
}

}  // namespace

Complaint about(const Config& config, std::string_view path, std::string what, std::string fix) {
  const std::string& where = value_of(config, path).where;
  return {where.empty() ? "defaults" : where, 0, std::string(path), std::move(what), std::move(fix)};
}

bool is_set(const Config& config, std::string_view path) {
  return value_of(config, path).source != SettingSource::kDefault;
}

std::string exact_size(std::uint64_t bytes) {
  if (bytes % kGiB == 0) return std::to_string(bytes / kGiB) + "GiB";
  if (bytes % kMiB == 0) return std::to_string(bytes / kMiB) + "MiB";
  return std::to_string(bytes) + "B";
}

}  // namespace kvtier
