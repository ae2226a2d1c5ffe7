#pragma once
// Where descriptors outlive the daemon: the service manager's store, or kvtier-keeper's (daemon/app). Names
// carry the identity ("slab3.data", "session7.channel"). The memory behind a stored descriptor survives a
// crash of ours.

#include <string>
#include <string_view>
#include <vector>

#include "libkvclient/base/status.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier {

struct StoredFd {
  std::string name;
  UniqueFd fd;
};

class FdStore {
 public:
  FdStore() = default;
  FdStore(const FdStore&) = delete;
  FdStore& operator=(const FdStore&) = delete;
  virtual ~FdStore() = default;

  /// Keeps a duplicate of `fd` under `name`, replacing what was there. Does not block.
  virtual Status put(std::string_view name, int fd) = 0;
  virtual void remove(std::string_view name) = 0;
  /// What the previous instance left, once, at start.
  virtual std::vector<StoredFd> take_all() = 0;
  /// The start is over and did not fail. From any thread.
  virtual void started() {}
  /// Bytes of memory behind what take_all gives: already ours, so a restart does not ask for them twice.
  [[nodiscard]] virtual std::uint64_t held_bytes() const { return 0; }
  /// "systemd", "keeper", "none": for status.
  [[nodiscard]] virtual std::string_view kind() const = 0;
};

/// Keeps nothing: every start is cold.
class NoFdStore final : public FdStore {
 public:
  Status put(std::string_view, int) override { return Status::ok(); }
  void remove(std::string_view) override {}
  std::vector<StoredFd> take_all() override { return {}; }
  [[nodiscard]] std::string_view kind() const override { return "none"; }
};

}  // namespace kvtier
