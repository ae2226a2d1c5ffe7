#pragma once
// The configuration as people read it: effective values with their sources, and the annotated default file.

#include <string>
#include <vector>

#include "daemon/config/config.h"

namespace kvtier {

/// One line of `kvctl config check` and `kvctl status`.
struct ConfigRow {
  std::string path;
  std::string value;
  std::string unit;
  std::string
      source;  ///< "default", "file /etc/kvtier/kvtierd.yaml:12", "environment KVTIER_...", "flag --set"
  std::string reload;  ///< "live" or "restart"
  std::string effect;
};

/// Every setting in table order, then one row a member of each namespace.
std::vector<ConfigRow> describe(const Config& config);

/// What config/kvtierd.yaml is: every setting with its effect, range and default.
std::string annotated_default();

}  // namespace kvtier
