#include "daemon/app/systemd_fd_store.h"

#include "daemon/app/service_manager.h"
#include "daemon/app/stored_bytes.h"

namespace kvtier {

SystemdFdStore::SystemdFdStore() : kept_(service_manager::take_fds()), held_bytes_(stored_bytes(kept_)) {
  for (const StoredFd& each : kept_) names_.insert(each.name);
}

Status SystemdFdStore::put(std::string_view name, int fd) {
  remove(name);
  if (!service_manager::store_fd(name, fd)) {
    return {Code::kSystem, "the service manager does not take descriptor " + std::string(name) +
                               "; raise FileDescriptorStoreMax"};
  }
  names_.emplace(name);
  return Status::ok();
}

void SystemdFdStore::remove(std::string_view name) {
  const auto found = names_.find(name);
  if (found == names_.end()) return;
  service_manager::remove_fd(name);
  names_.erase(found);
}

}  // namespace kvtier
