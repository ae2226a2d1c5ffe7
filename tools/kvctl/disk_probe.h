#pragma once
// How fast a folder's device writes and reads, through the ring that the daemon would use. In a file without a name: it is
// gone with this process, however that ends.

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/io/probe.h"
#include "libkvclient/base/clock.h"

namespace kvtier::ctl {

/// One measurement. Writes go one behind the other, as segments do, and end with a flush; reads go anywhere.
struct DiskRate {
  IoKind kind = IoKind::kWrite;
  std::uint32_t block_bytes = 0;
  std::uint32_t depth = 0;  ///< requests in flight
  std::uint64_t bytes_per_second = 0;
};

struct DiskProbe {
  PathProbe path;
  bool is_direct =
      false;  ///< what the daemon would do, and what was measured; else the page cache takes part
  std::uint32_t depth_max = 0;   ///< operations under way at most
  std::uint64_t free_bytes = 0;  ///< for who is not root
  std::uint64_t file_system_bytes = 0;
  std::uint64_t store_bytes = 0;  ///< of a store that is there already; 0: none
  std::uint64_t device = 0;       ///< folders of one file system have the same
  std::uint64_t trial_bytes = 0;  ///< that the file grew to
  std::vector<DiskRate> rates;
};

/// About `time_ns` long. Throws Failure, with cause and fix: a folder that is missing, full, not writable, or whose device
/// fails or does not answer.
DiskProbe probe_disk(const std::string& folder, TimeNs time_ns);

/// The fastest of one kind; of equal ones the first.
const DiskRate& best_rate(const DiskProbe& probe, IoKind kind);

}  // namespace kvtier::ctl
