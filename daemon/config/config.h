#pragma once
// The configuration in force: an immutable value, made by load_config() and handed out as shared_ptr<const
// Config>. Ranges, defaults and meaning of every member are in settings_table.cc, one row each.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/config/setting.h"
#include "libkvclient/base/log_level.h"

namespace kvtier {

/// How much a capability of the host matters.
enum class Need : std::uint8_t { kOff, kTry, kRequire };

struct HostConfig {
  std::uint64_t bytes = 0;
  std::uint64_t slab_bytes = 0;  ///< 0: chosen by the daemon from `bytes`
  Need huge_pages = Need::kOff;
  Need lock = Need::kOff;
  std::uint32_t low_water_blocks = 0;
  std::uint64_t headroom_bytes = 0;
};

struct IndexConfig {
  std::uint64_t blocks_max = 0;  ///< 0: as many as the tiers can hold
};

struct LimitsConfig {
  std::uint32_t clients_max = 0;
  std::uint32_t namespaces_max = 0;
  std::uint32_t spaces_max = 0;
  std::uint32_t pinned_percent_client = 0;
  std::uint32_t pinned_percent_namespace = 0;
};

struct ConductorConfig {
  std::uint64_t spin_ns = 0;
};

/// One folder of the NVMe tier.
struct NvmePathConfig {
  std::string dir;
  std::uint64_t bytes = 0;
  std::string where;  ///< "/etc/kvtier/kvtierd.yaml:12"
};

enum class NvmeBackend : std::uint8_t { kAuto, kUring, kPosix };
enum class NvmeDirect : std::uint8_t { kAuto, kOn, kOff };
enum class NvmeWritePolicy : std::uint8_t { kBack, kThrough };
enum class NvmeRecover : std::uint8_t { kBeforeReady, kBehind };
enum class NvmeHome : std::uint8_t { kRefuse, kMoved, kFresh };
enum class NvmeMissing : std::uint8_t { kKeep, kGiveUp };

struct NvmeConfig {
  std::vector<NvmePathConfig> paths;  ///< empty: no tier
  NvmeBackend backend = NvmeBackend::kAuto;
  NvmeDirect direct = NvmeDirect::kAuto;
  NvmeWritePolicy write_policy = NvmeWritePolicy::kBack;
  std::uint64_t write_budget_bytes_per_day = 0;  ///< 0: no limit
  std::uint64_t blocks_max = 0;                  ///< 0: chosen by the daemon
  NvmeRecover recover = NvmeRecover::kBeforeReady;
  std::uint64_t segment_bytes = 0;
  std::uint64_t headroom_bytes = 0;  ///< 0: chosen by the daemon
  std::uint64_t io_deadline_ns = 0;
  NvmeHome home = NvmeHome::kRefuse;
  NvmeMissing missing = NvmeMissing::kKeep;
};

struct LogConfig {
  LogLevel level = LogLevel::kInfo;
  LogTarget target = LogTarget::kStderr;
  bool is_json = false;
};

struct NamespaceConfig {
  std::string name;
  std::vector<std::uint32_t> owner_uids;
  std::vector<std::uint32_t> group_gids;
  std::vector<std::uint32_t> reader_uids;
  std::uint64_t host_bytes_max = 0;  ///< 0: no limit of its own
  std::string where;                 ///< "/etc/kvtier/kvtierd.yaml:12"; empty: built in
};

struct Config {
  std::string instance;
  std::string runtime_dir;
  std::string socket;
  std::string admin_socket;
  std::string socket_group;  ///< empty: the daemon's own group
  std::string admin_group;   ///< empty: only root and the daemon's own uid
  HostConfig host;
  NvmeConfig nvme;
  IndexConfig index;
  LimitsConfig limits;
  ConductorConfig conductor;
  LogConfig log;
  std::vector<NamespaceConfig> namespaces;

  /// One entry a row of settings_table(), in its order: value and where it came from.
  std::vector<EffectiveValue> effective;
};

}  // namespace kvtier
