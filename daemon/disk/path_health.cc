#include "daemon/disk/path_health.h"

#include <algorithm>
#include <array>

namespace kvtier {

std::string_view path_state_name(PathState state) {
  static constexpr std::array<std::string_view, 4> kNames = {"ok", "full", "slow", "failed"};
  return kNames[static_cast<std::size_t>(state)];
}

void PathHealth::step(TimeNs now_ns) {
  judge(now_ns);
  if (is_serving()) return;
  if (!pieces_.is_empty()) {
    pieces_.step();
    if (pieces_.is_settled()) probe_finish(now_ns);
  } else if (now_ns >= probe_ns_ && !is_held()) {
    probe(now_ns);  // a device that still has old requests would only get one more
  }
}

bool PathHealth::is_held() const {
  return io_.luck(file_).reads.held + io_.luck(file_).writes.held > 0;
}

PathState PathHealth::state_of(const IoRow& row, std::uint32_t late_max) {
  if (row.late >= late_max) return PathState::kSlow;
  return row.failed >= kFailuresMax ? PathState::kFailed : PathState::kOk;
}

void PathHealth::judge(TimeNs now_ns) {
  const IoLuck& luck = io_.luck(file_);
  const PathState reads = state_of(luck.reads, kLateMax);
  if (reads != PathState::kOk) are_reads_broken_ = true;
  if (!is_serving()) return;
  const std::uint32_t late_max = luck.writes.held > 0 ? kLateHeldMax : kLateMax;
  broken_ = reads != PathState::kOk ? reads : state_of(luck.writes, late_max);
  if (is_serving()) return;
  doublings_ = now_ns < trial_ends_ns_ ? std::min(doublings_ + 1, kDoublingsMax) : 0;
  probe_ns_ = now_ns + (options_.probe_interval_ns << doublings_);
}

// A write: what only reads would be found out by the next put.
void PathHealth::probe(TimeNs now_ns) {
  const IoRequest request{.kind = IoKind::kWrite,
                          .file = file_,
                          .region = options_.scratch_region,
                          .bytes = static_cast<std::uint32_t>(scratch_.size()),
                          .offset = kProbeOffset,
                          .data = scratch_.data(),
                          .deadline_ns = now_ns + options_.io_deadline_ns};
  pieces_.add({.request = request, .cause = WriteCause::kProbes});
  pieces_.step();
}

void PathHealth::probe_finish(TimeNs now_ns) {
  const bool is_good = pieces_.first_failed() == nullptr;
  if (!pieces_.is_released()) return;
  pieces_.clear();
  if (is_good) {
    broken_ = PathState::kOk;
    are_reads_broken_ = false;
    trial_ends_ns_ = now_ns + kTrialNs;
    io_.luck(file_).reads = io_.luck(file_).writes = {};  // nothing is held: else there was no probe
    return;
  }
  doublings_ = std::min(doublings_ + 1, kDoublingsMax);
  probe_ns_ = now_ns + (options_.probe_interval_ns << doublings_);
}

}  // namespace kvtier
