#pragma once
// YAML text to a tree. The only user of yaml-cpp; its exceptions end here. The subset: one document, maps,
// lists and scalars; no anchors, aliases, merge keys, tags or duplicate keys.

#include <string_view>
#include <vector>

#include "daemon/config/complaint.h"
#include "daemon/config/yaml_node.h"
#include "libkvclient/base/units.h"

namespace kvtier {

inline constexpr std::size_t kYamlBytesMax = 64 * kKiB;
inline constexpr std::size_t kYamlDepthMax = 8;
inline constexpr std::size_t kYamlNodesMax = 4096;

/// Appends every mistake to `complaints`. The tree is usable for further checks as far as it was read; an
/// empty document is a map without members.
YamlNode parse_yaml(std::string_view text, std::string_view file, std::vector<Complaint>& complaints);

}  // namespace kvtier
