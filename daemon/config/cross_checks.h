#pragma once
// Settings that are right alone and wrong together.

#include <vector>

#include "daemon/config/complaint.h"
#include "daemon/config/config.h"
#include "daemon/config/identities.h"
#include "daemon/config/memory_limits.h"
#include "libkvclient/base/status.h"

namespace kvtier {

/// What the configuration alone can show.
void check_settings_together(const Config& config, std::vector<Complaint>& errors,
                             std::vector<Complaint>& warnings);

/// Groups that this host does not have.
void check_groups(const Config& config, const IdentityLookup& identities, std::vector<Complaint>& errors);

/// What index, directories and tables take beside host.bytes when the tier is full of small blocks.
std::uint64_t table_bytes(const Config& config);

struct MemoryDemand {
  std::uint64_t overhead_bytes = 0;  ///< index, directories, tables: taken beside host.bytes
  std::uint64_t held_bytes = 0;      ///< already ours, from an earlier instance that this one adopts
};

/// Whether the host tier fits this host now: kNoSpace with needed, available and the knob to turn (report
/// U-01).
Status check_memory_fits(const Config& config, const MemoryLimits& limits, const MemoryDemand& demand);

}  // namespace kvtier
