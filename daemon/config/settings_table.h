#pragma once
// The settings: one row each, in the order in which the annotated default and `kvctl config check` show them.

#include <span>

#include "daemon/config/config.h"
#include "daemon/config/setting.h"

namespace kvtier {

std::span<const Setting<Config>> settings_table();

/// The members of one entry of `namespaces:`. Paths are relative to the entry.
std::span<const Setting<NamespaceConfig>> namespace_table();

/// The same of `nvme.paths:`.
std::span<const Setting<NvmePathConfig>> nvme_path_table();

/// The row with this path, or null.
const Setting<Config>* find_setting(std::string_view path);
const Setting<NamespaceConfig>* find_namespace_setting(std::string_view path);
const Setting<NvmePathConfig>* find_nvme_path_setting(std::string_view path);

}  // namespace kvtier
