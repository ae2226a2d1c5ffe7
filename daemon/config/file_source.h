#pragma once
// Settings from a configuration file.

#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/config.h"
#include "daemon/config/effective_values.h"
#include "daemon/config/identities.h"
#include "daemon/config/yaml_node.h"

namespace kvtier {

/// The whole file. kNotFound, kInvalid (not a regular file, too long) or kSystem. Never blocks on a pipe or
/// device.
Result<std::string> read_config_file(const std::string& path);

/// The nodes of what is a list; null where it is not in the file.
struct FileLists {
  const YamlNode* namespaces = nullptr;
  const YamlNode* nvme_paths = nullptr;
};

/// Walks the document; fills in `lists`.
void apply_file(const YamlNode& root, std::string_view file, EffectiveValues& values, FileLists& lists,
                std::vector<Complaint>& complaints);

/// The list under `nvme.paths:`; null gives none: there is no tier.
std::vector<NvmePathConfig> read_nvme_paths(const YamlNode* list, std::string_view file,
                                            std::vector<Complaint>& complaints);

/// The list under `namespaces:`; null gives one namespace, `default`, for the daemon's own user and root.
std::vector<NamespaceConfig> read_namespaces(const YamlNode* list, std::string_view file,
                                             const IdentityLookup& identities,
                                             std::vector<Complaint>& complaints);

}  // namespace kvtier
