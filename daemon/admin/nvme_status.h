#pragma once
// The NVMe tier in `status`: what it is, what it does, and what of it calls for somebody.

#include <string>
#include <vector>

#include "daemon/admin/admin_facts.h"

namespace kvtier {

/// One of `tiers`, a JSON object. Only where paths are configured.
std::string nvme_tier_json(const AdminFacts& facts);
std::vector<std::string> nvme_complaints(const AdminFacts& facts, TimeNs now_ns);
/// Of a path that serves: its file has no name any more, or another one has it. Empty: all is well. Asks the file system: of a
/// device that hangs it may not come back.
std::string nvme_place_complaint(const DiskPathFacts& path);

}  // namespace kvtier
