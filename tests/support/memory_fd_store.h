#pragma once
// A descriptor store inside the test: what kvtier-keeper is for real restarts.

#include <fcntl.h>

#include <map>
#include <string>

#include "daemon/model/fd_store.h"

namespace kvtier::test {

class MemoryFdStore final : public FdStore {
 public:
  Status put(std::string_view name, int fd) override {
    kept_[std::string(name)] = UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
    return Status::ok();
  }
  void remove(std::string_view name) override { kept_.erase(std::string(name)); }
  /// As the keeper does: hands out duplicates and keeps its own.
  std::vector<StoredFd> take_all() override {
    std::vector<StoredFd> all;
    for (const auto& [name, fd] : kept_)
      all.push_back({name, UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3))});
    return all;
  }
  [[nodiscard]] std::string_view kind() const override { return "memory"; }
  void clear() { kept_.clear(); }
  [[nodiscard]] std::size_t size() const { return kept_.size(); }
  [[nodiscard]] bool has(const std::string& name) const { return kept_.contains(name); }

 private:
  std::map<std::string, UniqueFd> kept_;
};

}  // namespace kvtier::test
