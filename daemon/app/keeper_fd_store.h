#pragma once
// The FdStore behind which kvtier-keeper stands: where there is no systemd.

#include <memory>

#include "daemon/model/fd_store.h"
#include "libkvclient/base/result.h"

namespace kvtier {

class KeeperFdStore final : public FdStore {
 public:
  /// Null: this process has no keeper. Otherwise asks it for what it keeps.
  static Result<std::unique_ptr<KeeperFdStore>> connect();

  Status put(std::string_view name, int fd) override;
  void remove(std::string_view name) override;
  std::vector<StoredFd> take_all() override { return std::move(kept_); }
  void started() override;
  [[nodiscard]] std::uint64_t held_bytes() const override { return held_bytes_; }
  [[nodiscard]] std::string_view kind() const override { return "keeper"; }

 private:
  explicit KeeperFdStore(UniqueFd socket) : socket_(std::move(socket)) {}
  Status fetch();

  const UniqueFd socket_;
  std::vector<StoredFd> kept_;
  std::uint64_t held_bytes_ = 0;
};

}  // namespace kvtier
