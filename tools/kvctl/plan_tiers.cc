#include "tools/kvctl/plan_tiers.h"

#include <algorithm>

#include "daemon/config/load_config.h"
#include "daemon/config/nvme_checks.h"
#include "daemon/config/slab_size.h"
#include "daemon/config/tier_limits.h"
#include "libkvclient/base/units.h"
#include "tools/kvctl/exit_status.h"
#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

constexpr std::uint64_t kGpuBytesMax = kGiB * 64 * 1024;
constexpr std::uint64_t kNvmeBytesMax = kGiB * 1024 * 1024;  ///< as of a path's setting

std::uint64_t size_of(const std::string& flag, const std::string& text, std::uint64_t max) {
  if (text.empty()) return 0;
  const Result<std::uint64_t> bytes = parse_size(text);
  if (!bytes.is_ok()) throw Failure(kExitUsage, "usage", flag + ": " + printable(bytes.status().message()));
  if (bytes.value() > max)
    throw Failure(kExitUsage, "usage",
                  flag + ": " + format_size(bytes.value()) + " is more than " + format_size(max));
  return bytes.value();
}

Config config_of(const PlanOptions& options) {
  ConfigSources sources{
      .file = options.config_file, .environment = process_environment(), .sets = options.sets};
  if (!options.host_bytes.empty()) sources.sets.push_back("host.bytes=" + options.host_bytes);
  if (!options.write_budget.empty())
    sources.sets.push_back("nvme.write_budget_bytes_per_day=" + options.write_budget);
  const ConfigLoad load = load_config(sources, SystemIdentities());
  if (load.is_ok()) return *load.config;
  std::string all;
  for (const Complaint& each : load.errors) all += (all.empty() ? "" : "\n") + printable(to_string(each));
  throw Failure(kExitFailed, "invalid", all);
}

void set_nvme(const PlanOptions& options, Config& config) {
  if (options.nvme_bytes.empty()) return;
  const std::uint64_t bytes = size_of("--nvme-bytes", options.nvme_bytes, kNvmeBytesMax);
  const std::uint64_t least = kNvmeHeadBytes + kNvmeSegmentsMin * config.nvme.segment_bytes;
  config.nvme.paths.clear();
  if (bytes == 0) return;
  if (bytes < least) {
    throw Failure(kExitUsage, "usage",
                  "--nvme-bytes: " + format_size(bytes) + " has no room for " +
                      std::to_string(kNvmeSegmentsMin) + " segments of nvme.segment_bytes, " +
                      format_size(config.nvme.segment_bytes));
  }
  config.nvme.paths.push_back({.bytes = bytes, .where = "--nvme-bytes"});
}

}  // namespace

PlanTiers plan_tiers_of(const PlanOptions& options) {
  Config config = config_of(options);
  set_nvme(options, config);
  const std::uint64_t budget = config.nvme.write_budget_bytes_per_day;
  PlanTiers tiers{.write_budget_bytes_per_day = budget};
  plan::TierSizes& sizes = tiers.sizes;
  sizes.gpu_bytes = size_of("--gpu-bytes", options.gpu_bytes, kGpuBytesMax);
  sizes.host_bytes = config.host.bytes;
  sizes.slab_bytes =
      config.host.slab_bytes != 0 ? config.host.slab_bytes : default_slab_bytes(config.host.bytes);
  for (const NvmePathConfig& path : config.nvme.paths) sizes.nvme_path_bytes.push_back(path.bytes);
  sizes.segment_bytes = config.nvme.segment_bytes;
  sizes.block_bytes_max = nvme_block_bytes_max(sizes.slab_bytes, sizes.segment_bytes);
  const std::uint64_t blocks = config.index.blocks_max != 0
                                   ? config.index.blocks_max
                                   : config.host.bytes / kPageBytes + nvme_blocks_max(config);
  sizes.blocks_max = std::min(blocks, kIndexBlocksMax);
  sizes.puts_bytes_per_day = budget - nvme_moves_bytes_per_day(budget);
  return tiers;
}

}  // namespace kvtier::ctl
