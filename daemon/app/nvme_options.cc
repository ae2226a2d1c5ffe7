#include "daemon/app/nvme_options.h"

#include <unistd.h>

#include "daemon/config/nvme_checks.h"
#include "daemon/disk/format.h"
#include "daemon/disk/store_choice.h"
#include "daemon/memory/host_memory.h"

namespace kvtier {
namespace {

static_assert(kNvmePathsMax == kPathsMax && kNvmeHeadBytes == kSegmentsOffset);
static_assert(kNvmeSegmentsMin == kSegmentsMin && kNvmeSegmentStep == kAlignmentMax);

IoEngine engine_of(NvmeBackend backend) {
  if (backend == NvmeBackend::kUring) return IoEngine::kUring;
  return backend == NvmeBackend::kPosix ? IoEngine::kPosix : IoEngine::kAuto;
}

DirectUse direct_of(NvmeDirect direct) {
  if (direct == NvmeDirect::kOn) return DirectUse::kOn;
  return direct == NvmeDirect::kOff ? DirectUse::kOff : DirectUse::kAuto;
}

HomePolicy home_of(NvmeHome home) {
  if (home == NvmeHome::kMoved) return HomePolicy::kMoved;
  return home == NvmeHome::kFresh ? HomePolicy::kFresh : HomePolicy::kRefuse;
}

}  // namespace

NvmeTierOptions nvme_tier_options(const Config& config) {
  NvmeTierOptions options;
  for (const NvmePathConfig& path : config.nvme.paths) options.paths.push_back({path.dir, path.bytes});
  options.engine = engine_of(config.nvme.backend);
  options.direct = direct_of(config.nvme.direct);
  options.home = home_of(config.nvme.home);
  options.missing =
      config.nvme.missing == NvmeMissing::kGiveUp ? MissingPolicy::kGiveUp : MissingPolicy::kKeep;
  options.segment_bytes = config.nvme.segment_bytes;
  options.headroom_bytes = config.nvme.headroom_bytes;
  options.io_deadline_ns = config.nvme.io_deadline_ns;
  options.write_budget_bytes_per_day = config.nvme.write_budget_bytes_per_day;
  options.slab_bytes = config.host.slab_bytes != 0 ? config.host.slab_bytes
                                                   : HostMemory::default_slab_bytes(config.host.bytes);
  options.slabs_max =
      static_cast<std::uint32_t>((config.host.bytes + options.slab_bytes - 1) / options.slab_bytes);
  options.instance = "pid " + std::to_string(::getpid()) + ", socket " + config.socket;
  return options;
}

}  // namespace kvtier
