#include "daemon/io/io_stats.h"

namespace kvtier {

void IoStats::count(IoOutcome outcome, IoKind kind, std::uint32_t bytes) {
  const auto counter = [this, outcome]() -> std::uint64_t& {
    switch (outcome) {
      case IoOutcome::kDone:
        return done;
      case IoOutcome::kEndOfFile:
        return ended_early;
      case IoOutcome::kDeadline:
        return late;
      case IoOutcome::kCancelled:
        return cancelled;
      case IoOutcome::kReleased:
        return released;
      case IoOutcome::kFailed:
        break;
    }
    return failed;
  };
  ++counter();
  if (outcome != IoOutcome::kDone && outcome != IoOutcome::kEndOfFile) return;
  if (kind == IoKind::kRead) bytes_read += bytes;
  if (kind == IoKind::kWrite) bytes_written += bytes;
}

}  // namespace kvtier
