#pragma once
// The circuit breaker of a path: after a few failures or late requests in a row nobody is sent there, and a probe a
// while later, then ever more seldom, finds out whether it serves again. A path that comes back and fails again does so ever
// more seldom too. Where only writes are in trouble, reads go on.

#include <cstdint>
#include <string_view>

#include "daemon/disk/io_pieces.h"
#include "daemon/disk/store_options.h"

namespace kvtier {

enum class PathState : std::uint8_t {
  kOk = 0,
  kFull =
      1,  ///< serves reads; no segment is free, and none can be reclaimed: they have no index, and something lives
  kSlow = 2,    ///< requests end by their deadline: none are sent, but for reads where reads end well
  kFailed = 3,  ///< requests fail: the same
};
std::string_view path_state_name(PathState state);

class PathHealth {
 public:
  /// `scratch`: one unit of the store's memory.
  PathHealth(DiskIo& io, IoFile file, const DiskStoreOptions& options, std::span<std::byte> scratch)
      : io_(io), pieces_(io, 2), file_(file), options_(options), scratch_(scratch) {}

  void step(TimeNs now_ns);
  void set_full(bool is_full) { is_full_ = is_full; }

  /// Reads and writes.
  [[nodiscard]] bool is_serving() const { return broken_ == PathState::kOk; }
  [[nodiscard]] bool is_readable() const { return is_serving() || !are_reads_broken_; }
  [[nodiscard]] PathState state() const {
    if (broken_ != PathState::kOk) return broken_;
    return is_full_ ? PathState::kFull : PathState::kOk;
  }
  /// errno of the last failure; 0: none yet.
  [[nodiscard]] int error() const { return io_.luck(file_).error; }
  /// kNever while a probe is under way, or what the device holds keeps it from being sent: an event comes first.
  [[nodiscard]] TimeNs next_probe_ns() const {
    return is_serving() || !pieces_.is_empty() || is_held() ? kNever : probe_ns_;
  }

 private:
  void judge(TimeNs now_ns);
  [[nodiscard]] static PathState state_of(const IoRow& row, std::uint32_t late_max);
  [[nodiscard]] bool is_held() const;
  void probe(TimeNs now_ns);
  void probe_finish(TimeNs now_ns);

  static constexpr std::uint32_t kFailuresMax = 4;
  static constexpr std::uint32_t kLateMax = 2;
  /// Of writes, while the device has them: nothing is written behind the first one.
  static constexpr std::uint32_t kLateHeldMax = 1;
  static constexpr std::uint32_t kDoublingsMax = 5;
  /// Who fails again so soon after a probe that went well is one whose probes say little: on a disk that is full they find
  /// the room that they always had. The next one comes later than the last.
  static constexpr TimeNs kTrialNs = 60 * kNsPerSecond;

  DiskIo& io_;
  IoPieces pieces_;
  const IoFile file_;
  const DiskStoreOptions& options_;
  const std::span<std::byte> scratch_;
  PathState broken_ = PathState::kOk;
  bool are_reads_broken_ = false;  ///< while it does not serve
  bool is_full_ = false;
  std::uint32_t doublings_ = 0;
  TimeNs probe_ns_ = kNever;
  TimeNs trial_ends_ns_ = 0;  ///< of the last return
};

}  // namespace kvtier
