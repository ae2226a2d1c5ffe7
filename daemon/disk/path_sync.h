#pragma once
// fdatasync of a path's file: who needs one takes a ticket, one sync serves all tickets that were taken before it was
// handed in. A sync that fails fails those tickets for good: what it should have made durable may be gone from the
// device's cache, and a later one says nothing about it.

#include <cstdint>

#include "daemon/disk/io_pieces.h"

namespace kvtier {

enum class SyncResult : std::uint8_t { kPending, kDone, kFailed };

class PathSync {
 public:
  /// `left_out`: a bit for each SyncCause whose ticket is done at once, without a sync. For tests that take one away
  /// to see that somebody notices; 0 otherwise.
  PathSync(DiskIo& io, IoFile file, TimeNs deadline_ns, std::uint32_t left_out)
      : io_(io), pieces_(io, 1), file_(file), deadline_ns_(deadline_ns), left_out_(left_out) {}

  /// Covers the writes whose end was seen before this call.
  [[nodiscard]] std::uint64_t take(SyncCause cause);
  /// To be asked in every round until it is not pending.
  [[nodiscard]] SyncResult result(std::uint64_t ticket) const;
  /// Syncs that failed: whoever finds it raised knows that something may not be durable.
  [[nodiscard]] std::uint64_t failures() const { return failures_; }
  /// After all who hold tickets have asked.
  void step(TimeNs now_ns);
  [[nodiscard]] bool is_idle() const { return pieces_.is_empty() && wanted_ == settled_; }

 private:
  void finish();

  DiskIo& io_;
  IoPieces pieces_;
  const IoFile file_;
  const TimeNs deadline_ns_;
  const std::uint32_t left_out_;
  std::uint64_t wanted_ = 0;       ///< tickets given out
  std::uint64_t covered_ = 0;      ///< by the sync under way
  std::uint64_t settled_ = 0;      ///< have a result
  std::uint64_t failed_from_ = 0;  ///< the last failure: tickets from here
  std::uint64_t failed_to_ = 0;    ///< to here
  std::uint64_t failures_ = 0;
};

}  // namespace kvtier
