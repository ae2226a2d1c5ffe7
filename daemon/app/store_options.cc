#include "daemon/app/store_options.h"

#include <sys/resource.h>

#include <algorithm>
#include <string>

#include "daemon/config/memory_limits.h"
#include "daemon/config/tier_limits.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

constexpr std::uint64_t kDescriptorsPerSlab = 4;  ///< payload and slot words, each writable and read-only
constexpr std::uint64_t kDescriptorsBeside = 64;  ///< sockets, log, tables, the first clients

MemoryLock memory_lock(Need need) {
  if (need == Need::kRequire) return MemoryLock::kRequire;
  return need == Need::kTry ? MemoryLock::kTry : MemoryLock::kOff;
}

}  // namespace

StoreOptions store_options(const Config& config) {
  StoreOptions options;
  options.host_bytes = config.host.bytes;
  options.slab_bytes = config.host.slab_bytes;
  options.lock = memory_lock(config.host.lock);
  options.low_water_blocks = config.host.low_water_blocks;
  options.blocks_max =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(config.index.blocks_max, kIndexBlocksMax));
  if (config.index.blocks_max == 0 && config.nvme.blocks_max != 0 && !config.nvme.paths.empty()) {
    const std::uint64_t all = config.host.bytes / kPageBytes + config.nvme.blocks_max;
    options.blocks_max = static_cast<std::uint32_t>(std::min<std::uint64_t>(all, kIndexBlocksMax));
  }
  const bool is_through = config.nvme.write_policy == NvmeWritePolicy::kThrough;
  options.disk_write = is_through ? DiskWrite::kThrough : DiskWrite::kBack;
  options.sessions_max = config.limits.clients_max;
  options.namespaces_max = config.limits.namespaces_max;
  options.spaces_max = config.limits.spaces_max;
  options.pinned_percent_client = config.limits.pinned_percent_client;
  options.pinned_percent_namespace = config.limits.pinned_percent_namespace;
  const std::uint64_t headroom = config.host.headroom_bytes;
  options.memory_available = [headroom] {
    const Result<MemoryLimits> limits = read_memory_limits();
    if (!limits.is_ok()) return ~std::uint64_t{0};  // no /proc: the kernel decides
    return limits.value().available_bytes - std::min(headroom, limits.value().available_bytes);
  };
  return options;
}

StoreLimits store_limits(const Config& config) {
  return {.low_water_blocks = config.host.low_water_blocks,
          .pinned_percent_client = config.limits.pinned_percent_client,
          .pinned_percent_namespace = config.limits.pinned_percent_namespace};
}

Status check_descriptors(const Config& config) {
  rlimit allowed{};
  if (::getrlimit(RLIMIT_NOFILE, &allowed) != 0) return Status::ok();
  const std::uint64_t slab_bytes = config.host.slab_bytes != 0
                                       ? config.host.slab_bytes
                                       : HostMemory::default_slab_bytes(config.host.bytes);
  const std::uint64_t slabs = (config.host.bytes + slab_bytes - 1) / slab_bytes;
  const std::uint64_t needed = slabs * kDescriptorsPerSlab + kDescriptorsBeside;
  if (needed <= allowed.rlim_cur) return Status::ok();
  return {Code::kNoSpace, "too few descriptors: needed " + std::to_string(needed) + " for " +
                              std::to_string(slabs) + " slabs of " + format_size(slab_bytes) + ", allowed " +
                              std::to_string(allowed.rlim_cur) +
                              "; raise LimitNOFILE= of the unit (ulimit -n), or raise host.slab_bytes"};
}

}  // namespace kvtier
