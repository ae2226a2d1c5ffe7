#pragma once
// A configuration from what was measured: the `nvme` part, as YAML.

#include <string>
#include <vector>

#include "tools/kvctl/disk_probe.h"

namespace kvtier::ctl {

struct PathShare {
  std::string folder;
  std::uint64_t bytes = 0;  ///< 0: too little to be of use
};

/// Nine tenths of what is free, in equal parts for folders of one file system, and what their stores have already.
std::vector<PathShare> share_space(const std::vector<DiskProbe>& probes);

/// Without folders, or where none has room: an empty list of paths.
std::string nvme_config(const std::vector<DiskProbe>& probes);

}  // namespace kvtier::ctl
