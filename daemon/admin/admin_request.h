#pragma once
// One request of an administrator, typed. What a peer wrote is checked here once; the rest believes it.

#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/flow/admin.h"
#include "libkvclient/base/result.h"
#include "libkvclient/base/units.h"
#include "libkvclient/wire/types.h"

namespace kvtier {

enum class AdminVerb : std::uint8_t {
  kVersion,
  kHealth,
  kStatus,
  kStats,
  kNamespaces,
  kSpaces,
  kClients,
  kLs,
  kTree,
  kInspect,
  kEvict,
  kFlush,
  kSync,
  kKick,
  kVerify
};

inline constexpr std::size_t kAdminLineBytesMax = 16 * kKiB;
inline constexpr std::uint32_t kAdminPageRowsMax = 1000;
inline constexpr std::uint32_t kAdminPageRows = 200;

struct AdminRequest {
  AdminVerb verb = AdminVerb::kVersion;
  std::string namespace_name;      ///< empty: all
  SpaceId space = SpaceId::kNone;  ///< kNone: all; else with a namespace, whose number it is
  std::uint32_t limit = kAdminPageRows;
  std::uint64_t cursor = 0;  ///< of lists
  TreeCursor tree_cursor;    ///< of tree
  EvictCursor evict_cursor;  ///< of the next step; no peer gives it
  std::uint64_t sync = 0;    ///< the one that it looks at; no peer gives it
  std::uint64_t census = 0;  ///< the count of leases that it waits for; no peer gives it
  std::string key;           ///< 4 to 64 hex digits, lower case
  KickTarget kick;
  bool is_all = false;
  bool is_disk_too = false;  ///< evict, flush: off the disk as well, for good

  /// Evict, flush, sync, kick, verify: not for everybody who may read.
  [[nodiscard]] bool is_destructive() const { return verb >= AdminVerb::kEvict; }
  /// Says how much each client leases, which is counted first.
  [[nodiscard]] bool has_leases() const { return verb == AdminVerb::kStatus || verb == AdminVerb::kClients; }
  /// Many bounded steps.
  [[nodiscard]] bool is_stepwise() const { return verb == AdminVerb::kEvict || verb == AdminVerb::kFlush; }
};

/// One JSON object, such as {"verb":"ls","namespace":"default","limit":100}. kInvalid says what is wrong.
Result<AdminRequest> parse_admin_request(std::string_view line);

}  // namespace kvtier
