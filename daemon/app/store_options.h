#pragma once
// From the configuration to what the store takes, and what of this process must suffice for it.

#include "daemon/config/config.h"
#include "daemon/flow/store.h"

namespace kvtier {

StoreOptions store_options(const Config& config);
/// What a reload hands in.
StoreLimits store_limits(const Config& config);

/// kNoSpace, with numbers and knob: this process may not open a descriptor for each part of each slab.
Status check_descriptors(const Config& config);

}  // namespace kvtier
