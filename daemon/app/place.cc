#include "daemon/app/place.h"

#include "daemon/admin/admin_server.h"
#include "daemon/session/runtime_dir.h"

namespace kvtier {
namespace {

// Which setting to correct. Another instance is no mistake in a setting, and a full system is none either.
Status blame(const Status& status, const std::string& setting) {
  const bool is_fault = status.code() == Code::kNotFound || status.code() == Code::kDenied;
  if (!is_fault) return status.while_doing(setting);
  return {status.code(), setting + ": " + status.message() + "; name another " + setting +
                             ", or correct the folder that holds it"};
}

}  // namespace

Result<Place> take_place(const Config& config) {
  Place place;
  std::optional<gid_t> group;
  KV_RETURN_IF_ERROR(find_group(config.socket_group, group).while_doing("socket_group"));
  KV_RETURN_IF_ERROR(find_group(config.admin_group, place.admin_group).while_doing("admin_group"));
  KV_RETURN_IF_ERROR(blame(prepare_runtime_dir(config.runtime_dir, group), "runtime_dir"));
  Result<std::unique_ptr<Listener>> listener = Listener::open({.path = config.socket, .group = group});
  if (!listener.is_ok()) return blame(listener.status(), "socket");
  place.listener = std::move(listener).value();
  Result<SocketLock> counters = SocketLock::take(config.runtime_dir + "/counters");
  if (!counters.is_ok()) return blame(counters.status(), "runtime_dir");
  place.runtime_dir.emplace(std::move(counters).value());
  Result<std::unique_ptr<Listener>> admin =
      AdminServer::listen(config.admin_socket, place.admin_group ? place.admin_group : group);
  if (!admin.is_ok()) return blame(admin.status(), "admin_socket");
  place.admin_listener = std::move(admin).value();
  return place;
}

}  // namespace kvtier
