#include "daemon/session/namespace_access.h"

#include <unistd.h>

#include <algorithm>
#include <string>

namespace kvtier {
namespace {

bool contains(const std::vector<std::uint32_t>& ids, std::uint32_t id) {
  return std::ranges::find(ids, id) != ids.end();
}

bool may_write(const NamespaceConfig& space, const Peer& peer) {
  if (peer.uid == 0 || peer.uid == ::geteuid() || contains(space.owner_uids, peer.uid)) return true;
  return std::ranges::any_of(space.group_gids, [&](std::uint32_t gid) { return peer.is_in_group(gid); });
}

}  // namespace

Result<NamespaceAccess> find_access(const std::vector<NamespaceConfig>& namespaces, std::string_view name,
                                    const Peer& peer) {
  const std::string quoted = "\"" + std::string(name) + "\"";
  const auto found = std::ranges::find(namespaces, name, &NamespaceConfig::name);
  if (found == namespaces.end())
    return Status(Code::kNotFound,
                  "there is no namespace " + quoted + "; the configuration lists those there are");
  if (may_write(*found, peer)) return NamespaceAccess{&*found, false};
  if (contains(found->reader_uids, peer.uid)) return NamespaceAccess{&*found, true};
  return Status(Code::kDenied, "uid " + std::to_string(peer.uid) + " may not use namespace " + quoted +
                                   "; it is none of its owners, groups and readers");
}

}  // namespace kvtier
