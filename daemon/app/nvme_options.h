#pragma once
// From the configuration to what the NVMe tier takes.

#include "daemon/config/config.h"
#include "daemon/tier/disk_opening.h"

namespace kvtier {

NvmeTierOptions nvme_tier_options(const Config& config);

}  // namespace kvtier
