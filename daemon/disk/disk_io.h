#pragma once
// The ring as the store uses it: results go to who asked, bytes are counted by cause, each path's luck is noted.
// Nothing is decided in a completion: clients record it, and look at it in their own step.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "daemon/disk/disk_stats.h"
#include "daemon/disk/format.h"
#include "daemon/io/io_ring.h"

namespace kvtier {

class IoClient {
 public:
  IoClient() = default;
  IoClient(const IoClient&) = delete;
  IoClient& operator=(const IoClient&) = delete;
  virtual ~IoClient() = default;
  virtual void on_io(std::uint32_t piece, const IoEvent& event) = 0;
};

/// Requests of one kind. A success ends the row of those that failed or were late.
struct IoRow {
  std::uint32_t failed = 0;  ///< other than late
  std::uint32_t late = 0;
  std::uint32_t held = 0;  ///< now: answered, and with the device still
};

/// How the requests of one file ended, for its health. A disk that is full or read-only reads on: a row is of one kind.
struct IoLuck {
  IoRow reads;
  IoRow writes;   ///< and syncs
  int error = 0;  ///< errno of the last failure
};

/// Bytes that one device has at once, above a first request: what keeps it busy (a few times its rate times its latency)
/// and no more. What waits in a device's own queue only waits longer, and cannot be overtaken.
inline constexpr std::uint64_t kReadBytesInFlight = 16ULL << 20;
inline constexpr std::uint64_t kWriteBytesInFlight = 32ULL << 20;

class DiskIo {
 public:
  DiskIo(IoRing& ring, DiskStats& stats) : ring_(ring), stats_(stats) {}

  /// `client` is borrowed for as long as this lives. Before any work.
  std::uint32_t attach(IoClient& client);
  /// False: the ring is full, or the device has enough: ask again in the next round.
  [[nodiscard]] bool submit(std::uint32_t client, std::uint32_t piece, IoRequest request, WriteCause cause);
  /// One round of the ring. Returns the events that came.
  std::size_t poll(TimeNs now_ns);

  [[nodiscard]] IoLuck& luck(IoFile file) { return luck_[static_cast<std::size_t>(file)]; }
  [[nodiscard]] TimeNs next_deadline_ns() const { return ring_.next_deadline_ns(); }
  [[nodiscard]] DiskStats& stats() { return stats_; }
  /// Steps that jobs took since the store began (job_step.h).
  [[nodiscard]] std::uint64_t& changes() { return changes_; }

 private:
  struct InFlight {
    std::uint64_t reads = 0;  ///< bytes
    std::uint64_t writes = 0;
  };
  void note(const IoEvent& event);
  [[nodiscard]] std::uint64_t& in_flight(const IoRequest& request);

  IoRing& ring_;
  DiskStats& stats_;
  std::vector<IoClient*> clients_;
  std::array<IoLuck, kPathsMax> luck_{};
  std::array<InFlight, kPathsMax> in_flight_{};
  std::uint64_t changes_ = 0;
};

}  // namespace kvtier
