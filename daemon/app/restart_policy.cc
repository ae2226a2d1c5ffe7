#include "daemon/app/restart_policy.h"

#include <sys/wait.h>

#include <algorithm>

#include "daemon/app/exit_code.h"

namespace kvtier {

std::optional<TimeNs> RestartPolicy::after(const EndedRun& run) {
  const bool is_exit = WIFEXITED(run.wait_status);
  exit_code_ = is_exit ? WEXITSTATUS(run.wait_status) : 128 + WTERMSIG(run.wait_status);
  if (is_exit && is_final(exit_code_)) return std::nullopt;
  const bool is_healthy = run.lasted_ns >= (run.has_served ? kHealthyServedNs : kHealthyNs);
  failed_starts_ = is_healthy || run.has_served ? 0 : failed_starts_ + 1;
  if (has_given_up()) return std::nullopt;
  pause_ns_ = is_healthy || pause_ns_ == 0 ? kPauseMinNs : std::min(2 * pause_ns_, kPauseMaxNs);
  return pause_ns_;
}

}  // namespace kvtier
