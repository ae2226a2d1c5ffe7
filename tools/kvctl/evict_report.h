#pragma once
// What evict and flush share: sending, progress on a terminal, the report.

#include "tools/kvctl/admin_client.h"

namespace kvtier::ctl {

int run_eviction(const Globals& globals, const Json& request);

}  // namespace kvtier::ctl
