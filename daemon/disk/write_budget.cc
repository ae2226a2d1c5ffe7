#include "daemon/disk/write_budget.h"

#include <algorithm>

#include "daemon/disk/disk_stats.h"

namespace kvtier {

// The time that made whole bytes is used up, the rest counts for the next call.
void WriteBudget::fill(TimeNs now_ns) {
  if (filled_ns_ == 0) filled_ns_ = now_ns;
  if (now_ns <= filled_ns_ || options_.bytes_per_day == 0) return;
  __extension__ using Wide = unsigned __int128;
  const Wide elapsed_ns = now_ns - filled_ns_;
  const Wide bytes = elapsed_ns * options_.bytes_per_day / kNsPerDay;
  const auto burst = static_cast<std::int64_t>(options_.burst_bytes);
  if (bytes >= static_cast<std::uint64_t>(burst - level_bytes_)) {
    level_bytes_ = burst;
    filled_ns_ = now_ns;
    return;
  }
  level_bytes_ += static_cast<std::int64_t>(bytes);
  filled_ns_ += static_cast<TimeNs>(bytes * kNsPerDay / options_.bytes_per_day);
}

void WriteBudget::resume_after(TimeNs idle_ns) {
  if (is_unlimited()) return;
  __extension__ using Wide = unsigned __int128;
  const Wide filled = Wide{idle_ns} * options_.bytes_per_day / kNsPerDay;
  if (filled >= options_.burst_bytes) return;
  level_bytes_ -= static_cast<std::int64_t>(options_.burst_bytes - static_cast<std::uint64_t>(filled));
}

void resume_budget(WriteBudget& budget, const DiskStats& stats, std::uint64_t wall_ns) {
  const std::uint64_t last_ns = stats.created_ns_max;
  if (last_ns != 0) budget.resume_after(wall_ns > last_ns ? wall_ns - last_ns : 0);
}

bool WriteBudget::take(std::uint64_t bytes, TimeNs now_ns) {
  if (!is_unlimited()) {
    if (bytes > level_bytes(now_ns)) {
      refused_bytes_ += bytes;
      return false;
    }
    level_bytes_ -= static_cast<std::int64_t>(bytes);
  }
  taken_bytes_ += bytes;
  return true;
}

void WriteBudget::charge(std::uint64_t bytes, TimeNs now_ns) {
  taken_bytes_ += bytes;
  if (is_unlimited()) return;
  fill(now_ns);
  level_bytes_ -= static_cast<std::int64_t>(bytes);
}

std::uint64_t WriteBudget::level_bytes(TimeNs now_ns) {
  if (is_unlimited()) return ~std::uint64_t{0};
  fill(now_ns);
  return level_bytes_ > 0 ? static_cast<std::uint64_t>(level_bytes_) : 0;
}

}  // namespace kvtier
