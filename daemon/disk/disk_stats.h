#pragma once
// What a store has done since it was opened. Counters only rise, but for those that say "now".

#include <array>
#include <cstdint>

#include "daemon/disk/format_fault.h"

namespace kvtier {

/// Why bytes were written: the rows of the write amplification.
enum class WriteCause : std::uint8_t {
  kPayloads = 0,  ///< of puts, padding included
  kHeaders = 1,   ///< of records of puts
  kMarks = 2,
  kMoves = 3,     ///< headers and payloads that reclaim rewrote
  kSegments = 4,  ///< segment headers
  kFooters = 5,
  kErasures = 6,
  kSuperblocks = 7,
  kProbes = 8,
};
inline constexpr std::size_t kWriteCauseCount = 9;

/// What waits for an fdatasync: each of these is a point of the protocol that a crash test takes away in turn.
enum class SyncCause : std::uint8_t {
  kFlush = 0,            ///< flush() says durable
  kMark = 1,             ///< mark() says durable
  kSeal = 2,             ///< records before the footer that names them: an index never leads to what was lost
  kMoved = 3,            ///< moved records, and newer copies, before the old segment is erased
  kErased = 4,           ///< erased before it counts as free
  kSuperblockFirst = 5,  ///< two copies before the other two
  kSuperblockSecond = 6,  ///< all four before anything is written in that epoch
  kClose = 7,             ///< footers before the superblock that says that all is sealed
  kOpening = 8,  ///< what a killed daemon left in the page cache, before a superblock copy is overwritten
};
inline constexpr std::size_t kSyncCauseCount = 9;

struct DiskStats {
  std::uint64_t puts = 0;
  std::uint64_t puts_failed = 0;
  std::uint64_t puts_refused = 0;  ///< queue full or no path: not taken
  std::uint64_t put_bytes = 0;     ///< payloads stored, without padding
  std::uint64_t gets = 0;
  std::uint64_t gets_ok = 0;
  std::uint64_t gets_stale = 0;
  std::uint64_t gets_late = 0;
  std::uint64_t gets_unavailable = 0;
  std::uint64_t get_bytes = 0;  ///< payloads given out
  std::uint64_t flushes = 0;
  std::uint64_t marks = 0;
  std::array<std::uint64_t, kWriteCauseCount> bytes_written{};
  std::uint64_t writes = 0;  ///< requests
  std::uint64_t reads = 0;
  std::uint64_t bytes_read = 0;
  std::array<std::uint64_t, kSyncCauseCount> syncs{};  ///< asked for; one fdatasync may serve several
  std::uint64_t syncs_done = 0;
  std::uint64_t created_ns_max = 0;  ///< wall clock of the newest record that recovery found; 0: none
  std::uint64_t io_failed = 0;
  std::uint64_t io_late = 0;
  std::uint64_t io_split = 0;  ///< failed requests that were tried again in parts
  std::array<std::uint64_t, kDiskFaultCount> faults{};
  std::uint64_t segments_sealed = 0;
  std::uint64_t segments_reclaimed = 0;
  std::uint64_t blocks_moved = 0;
  std::uint64_t blocks_dropped = 0;  ///< by reclaim, although alive
  std::uint64_t blocks_dead = 0;     ///< met by reclaim
  std::uint64_t marks_ended = 0;     ///< nothing older was left
  std::uint64_t recovered_blocks = 0;
  std::uint64_t recovered_void = 0;
  std::uint64_t recovered_footers = 0;
  std::uint64_t recovered_scans = 0;
  std::uint64_t recovered_dropped = 0;  ///< segments
  std::uint64_t recovered_unread =
      0;  ///< segments of which the device did not give all: as they were, for the next start
  std::uint64_t recovered_withheld =
      0;  ///< blocks that a mark in those may void: not told, for the next start

  [[nodiscard]] std::uint64_t bytes_written_total() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t bytes : bytes_written) sum += bytes;
    return sum;
  }
  /// Bytes to the device for each byte stored; 0 where nothing was.
  [[nodiscard]] double write_amplification() const {
    return put_bytes == 0 ? 0 : static_cast<double>(bytes_written_total()) / static_cast<double>(put_bytes);
  }
  [[nodiscard]] std::uint64_t read_bytes_average() const { return reads == 0 ? 0 : bytes_read / reads; }
  void count(DiskFault fault) { ++faults[static_cast<std::size_t>(fault)]; }
};

}  // namespace kvtier
