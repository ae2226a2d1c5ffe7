#pragma once
// All sources to one immutable Config: default < file < environment < flags.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "daemon/config/complaint.h"
#include "daemon/config/config.h"
#include "daemon/config/identities.h"
#include "libkvclient/base/status.h"

namespace kvtier {

struct ConfigSources {
  std::string file;                      ///< empty: built-in defaults only
  std::vector<std::string> environment;  ///< "NAME=value", see process_environment()
  std::vector<std::string> sets;         ///< "host.bytes=4GiB"
};

/// The result: a configuration, or every mistake that was found.
struct ConfigLoad {
  std::shared_ptr<const Config> config;  ///< null when there are errors
  std::vector<Complaint> errors;
  std::vector<Complaint> warnings;

  [[nodiscard]] bool is_ok() const { return config != nullptr; }
  /// kInvalid with all errors, one a line.
  [[nodiscard]] Status status() const;
};

ConfigLoad load_config(const ConfigSources& sources, const IdentityLookup& identities);

/// The same with the text of the file at hand; `sources.file` is the name in messages.
ConfigLoad load_config_text(const ConfigSources& sources, std::string_view text,
                            const IdentityLookup& identities);

/// This process's variables, for ConfigSources::environment.
std::vector<std::string> process_environment();

}  // namespace kvtier
