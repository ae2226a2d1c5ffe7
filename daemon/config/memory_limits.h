#pragma once
// How much memory this process may still take: the host's MemAvailable and every cgroup v2 limit above it.

#include <cstdint>
#include <string>

#include "libkvclient/base/result.h"

namespace kvtier {

struct MemoryLimits {
  std::uint64_t total_bytes = 0;      ///< the host's memory, or the tightest cgroup's limit
  std::uint64_t available_bytes = 0;  ///< the least of all bounds
  std::string bound_by;               ///< which bound that is, with its numbers
  bool is_cgroup = false;
  std::uint64_t huge_pages_free_bytes = 0;
};

/// Reads below `root` ("" is the real host): /proc/meminfo, /proc/self/cgroup, /sys/fs/cgroup.
/// kSystem when /proc/meminfo cannot be read; cgroup files that are missing set no bound.
Result<MemoryLimits> read_memory_limits(const std::string& root = "");

}  // namespace kvtier
