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
  IndexConfig index;
  LimitsConfig limits;
  ConductorConfig conductor;
  LogConfig log;
  std::vector<NamespaceConfig> namespaces;

  /// One entry a row of settings_table(), in its order: value and where it came from.
  std::vector<EffectiveValue> effective;
};

}  // namespace kvtier
