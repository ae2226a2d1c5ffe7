#pragma once
// Tells the service manager how far the start is: each slab that is stored is progress, and only progress
// asks for more time, so that a start that stands still is ended. Hands everything on to the real store.

#include <cstdint>

#include "daemon/model/fd_store.h"
#include "libkvclient/base/clock.h"

namespace kvtier {

class ProgressFdStore final : public FdStore {
 public:
  static constexpr TimeNs kExtensionNs = 60 * kNsPerSecond;
  static constexpr TimeNs kReportNs = kNsPerSecond;

  ProgressFdStore(FdStore& store, std::uint64_t bytes_total, const Clock& clock);

  Status put(std::string_view name, int fd) override;
  void remove(std::string_view name) override { store_.remove(name); }
  std::vector<StoredFd> take_all() override { return store_.take_all(); }
  [[nodiscard]] std::uint64_t held_bytes() const override { return store_.held_bytes(); }
  [[nodiscard]] std::string_view kind() const override { return store_.kind(); }

  /// Work went on without a new descriptor: an adopted slab was locked.
  void go_on();
  /// The start is over: nothing is reported any more.
  void finish() { is_starting_ = false; }

 private:
  void report();

  FdStore& store_;
  const std::uint64_t bytes_total_;
  const Clock& clock_;
  std::uint64_t bytes_done_ = 0;
  TimeNs reported_ns_ = 0;
  bool is_starting_ = true;
};

}  // namespace kvtier
