#include "daemon/disk/path_sync.h"

namespace kvtier {

std::uint64_t PathSync::take(SyncCause cause) {
  ++io_.stats().syncs[static_cast<std::size_t>(cause)];
  const bool is_left_out = (left_out_ >> static_cast<unsigned>(cause) & 1U) != 0;
  return is_left_out ? 0 : ++wanted_;
}

SyncResult PathSync::result(std::uint64_t ticket) const {
  if (ticket > settled_) return SyncResult::kPending;
  const bool is_failed = ticket != 0 && ticket >= failed_from_ && ticket <= failed_to_;
  return is_failed ? SyncResult::kFailed : SyncResult::kDone;
}

void PathSync::step(TimeNs now_ns) {
  if (!pieces_.is_empty()) {
    if (pieces_.is_settled() && settled_ < covered_) finish();
    if (pieces_.is_released()) pieces_.clear();
    if (!pieces_.is_empty()) return pieces_.step();
  }
  if (wanted_ == settled_) return;
  covered_ = wanted_;
  pieces_.add({.request = {.kind = IoKind::kSync, .file = file_, .deadline_ns = now_ns + deadline_ns_}});
  pieces_.step();
}

void PathSync::finish() {
  if (pieces_.first_failed() != nullptr) {
    failed_from_ = settled_ + 1;
    failed_to_ = covered_;
    ++failures_;
  } else {
    ++io_.stats().syncs_done;
  }
  settled_ = covered_;
  ++io_.changes();  // who waits for it looks in the next round
}

}  // namespace kvtier
