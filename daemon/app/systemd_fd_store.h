#pragma once
// Descriptors in the service manager's store (FileDescriptorStoreMax= of the unit). put() may wait for the
// manager to read its socket.

#include <functional>
#include <set>
#include <string>

#include "daemon/model/fd_store.h"

namespace kvtier {

class SystemdFdStore final : public FdStore {
 public:
  /// Takes what the manager handed over.
  SystemdFdStore();

  Status put(std::string_view name, int fd) override;
  void remove(std::string_view name) override;
  std::vector<StoredFd> take_all() override { return std::move(kept_); }
  [[nodiscard]] std::uint64_t held_bytes() const override { return held_bytes_; }
  [[nodiscard]] std::string_view kind() const override { return "systemd"; }

 private:
  std::vector<StoredFd> kept_;
  std::set<std::string, std::less<>> names_;  ///< in the store: a second put must remove the first
  std::uint64_t held_bytes_ = 0;
};

}  // namespace kvtier
