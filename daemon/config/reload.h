#pragma once
// From the configuration in force to another one, while running.

#include <memory>
#include <string>
#include <vector>

#include "daemon/config/config.h"

namespace kvtier {

struct SettingChange {
  std::string path;
  std::string before;  ///< as `kvctl config check` shows it; "" : was not there
  std::string after;   ///< "" : is not there any more
  Reload reload = Reload::kLive;
};

/// What differs, settings in table order, then the namespaces; both configurations come from load_config().
std::vector<SettingChange> changed_settings(const Config& before, const Config& after);

/// What is in force after a reload: `before`, with those values of `after` that change at run time.
std::shared_ptr<const Config> with_live_settings(const Config& before, const Config& after);

}  // namespace kvtier
