#pragma once
// Settings from the environment (KVTIER_HOST_BYTES=4GiB) and from flags (--set host.bytes=4GiB).

#include <span>
#include <string>
#include <vector>

#include "daemon/config/effective_values.h"

namespace kvtier {

/// "KVTIER_HOST_BYTES" for "host.bytes".
std::string environment_name(std::string_view path);

/// `environment`: "NAME=value" strings. A KVTIER_ variable that no setting has is an error when it is nearly
/// one, else a warning: the prefix is shared with the client library.
void apply_environment(std::span<const std::string> environment, EffectiveValues& values,
                       std::vector<Complaint>& errors, std::vector<Complaint>& warnings);

/// `sets`: "path=value" strings, the last one of a path wins.
void apply_sets(std::span<const std::string> sets, EffectiveValues& values, std::vector<Complaint>& errors);

}  // namespace kvtier
