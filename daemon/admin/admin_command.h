#pragma once
// What travels between the administration's thread and the conductor's: a typed command, and its answer as
// data.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "daemon/admin/admin_request.h"
#include "daemon/flow/admin.h"
#include "daemon/flow/stats.h"

namespace kvtier {

/// The store's part of `status`.
struct AdminStatusView {
  std::vector<std::string> complaints;
  StoreStats stats;
  std::uint64_t unverified = 0;
  std::uint64_t used_bytes = 0;  ///< slots of the host tier that are not free
};

struct AdminCommand {
  std::uint64_t ticket = 0;
  AdminRequest request;  ///< one page, or one step
};

using AdminAnswerBody =
    std::variant<std::monostate, AdminStatusView, StoreStats, EvictReport, SyncView, Page<NamespaceView>,
                 Page<SpaceView>, Page<ClientView>, Page<BlockView>, TreePage>;

struct AdminAnswer {
  std::uint64_t ticket = 0;
  Status status;
  std::uint64_t census = 0;  ///< not 0: leases are not counted yet, ask again with this
  AdminAnswerBody body;
};

}  // namespace kvtier
