#include "daemon/config/load_config.h"

#include <unistd.h>

#include "daemon/config/cross_checks.h"
#include "daemon/config/effective_values.h"
#include "daemon/config/file_source.h"
#include "daemon/config/overrides.h"
#include "daemon/config/settings_table.h"
#include "daemon/config/yaml_adapter.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

std::shared_ptr<const Config> make_config(const EffectiveValues& values,
                                          std::vector<NamespaceConfig> namespaces,
                                          std::vector<NvmePathConfig> nvme_paths) {
  auto config = std::make_shared<Config>();
  const auto table = settings_table();
  for (std::size_t i = 0; i < table.size(); ++i) table[i].store(*config, values.values()[i].value);
  // Whole pages: 4GB has none. Never more than was written.
  config->host.bytes = config->host.bytes / kPageBytes * kPageBytes;
  config->namespaces = std::move(namespaces);
  config->nvme.paths = std::move(nvme_paths);
  config->effective = values.values();
  return config;
}

}  // namespace

Status ConfigLoad::status() const {
  if (is_ok()) return Status::ok();
  return {Code::kInvalid, to_string(errors)};
}

ConfigLoad load_config_text(const ConfigSources& sources, std::string_view text,
                            const IdentityLookup& identities) {
  ConfigLoad load;
  EffectiveValues values;
  const YamlNode root = parse_yaml(text, sources.file, load.errors);
  FileLists lists;
  apply_file(root, sources.file, values, lists, load.errors);
  std::vector<NamespaceConfig> namespaces =
      read_namespaces(lists.namespaces, sources.file, identities, load.errors);
  std::vector<NvmePathConfig> nvme_paths = read_nvme_paths(lists.nvme_paths, sources.file, load.errors);
  apply_environment(sources.environment, values, load.errors, load.warnings);
  apply_sets(sources.sets, values, load.errors);
  const std::shared_ptr<const Config> config =
      make_config(values, std::move(namespaces), std::move(nvme_paths));
  check_settings_together(*config, load.errors, load.warnings);
  check_groups(*config, identities, load.errors);
  if (load.errors.empty()) load.config = config;
  return load;
}

ConfigLoad load_config(const ConfigSources& sources, const IdentityLookup& identities) {
  if (sources.file.empty()) return load_config_text(sources, "", identities);
  Result<std::string> text = read_config_file(sources.file);
  if (text.is_ok()) return load_config_text(sources, text.value(), identities);
  ConfigLoad load;
  load.errors.push_back({sources.file, 0, "", text.status().message(),
                         "name a file that is there and may be read, or none: then the defaults hold"});
  return load;
}

std::vector<std::string> process_environment() {
  std::vector<std::string> variables;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) variables.emplace_back(*each);
  return variables;
}

}  // namespace kvtier
