#pragma once
// What evict and flush share: sending, progress on a terminal, the report.

#include "tools/kvctl/admin_client.h"

namespace kvtier::ctl {

/// Adds --disk.
void add_disk_option(CLI::App& command, bool& is_disk_too);
int run_eviction(const Globals& globals, const Json& request);

}  // namespace kvtier::ctl
