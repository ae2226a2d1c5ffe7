#pragma once
// What a peer may do in a namespace, by the kernel's credentials and the configuration.

#include <string_view>
#include <vector>

#include "daemon/config/config.h"
#include "daemon/session/peer.h"

namespace kvtier {

struct NamespaceAccess {
  const NamespaceConfig* settings = nullptr;
  bool is_read_only = false;
};

/// Owners and groups read and write, readers read; root and the daemon's own user always may. Without any
/// rule only those two may. kNotFound: no such namespace; kDenied: not this peer.
Result<NamespaceAccess> find_access(const std::vector<NamespaceConfig>& namespaces, std::string_view name,
                                    const Peer& peer);

}  // namespace kvtier
