// The NVMe tier's part in the daemon's life: opened before the store, its spaces described to the store, ended before the
// threads.

#include <time.h>

#include "daemon/app/daemon.h"
#include "daemon/app/nvme_options.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

constexpr TimeNs kCloseNs = 10 * kNsPerSecond;
constexpr TimeNs kLookNs = 2 * kNsPerMs;

void pause() {
  const timespec pause{0, static_cast<long>(kLookNs)};
  (void)::nanosleep(&pause, nullptr);
}

}  // namespace

// What does not open is said and left out: the rest serves.
void Daemon::open_tier() {
  if (config_->nvme.paths.empty()) return;
  NvmeTierOptions options = nvme_tier_options(*config_);
  options.counters = counters_.get();
  DiskOpening opening = DiskOpening::open(options);
  tier_facts_ = std::move(opening.facts);
  tier_facts_.refusal = opening.status.message();
  tier_ = std::move(opening.tier);
  for (const DiskPathFacts& path : tier_facts_.paths) {
    if (path.is_open) {
      log_->info("NVMe path opened", {{"path", path.folder},
                                      {"bytes", path.bytes},
                                      {"direct", path.direct.value ? "on" : "off"},
                                      {"alignment", path.alignment}});
    } else {
      log_->error("NVMe path left out", {{"path", path.folder}, {"cause", path.cause}});
    }
  }
  for (const DiskPathFacts& path : tier_facts_.paths) {
    if (path.is_open && path.given_up_bytes != 0)
      log_->warn("NVMe path begins anew: what its file had is gone",
                 {{"path", path.folder},
                  {"bytes", path.given_up_bytes},
                  {"cause", "nvme.home is fresh, and the file was made elsewhere"}});
    if (path.is_open && path.lost_bytes != 0)
      log_->warn("NVMe path lost the end of its file",
                 {{"path", path.folder}, {"bytes", path.lost_bytes}, {"cause", lost_path_text(path)}});
    if (path.is_open && path.bytes < path.bytes_wanted)
      log_->warn("NVMe path is smaller than configured",
                 {{"path", path.folder}, {"cause", short_path_text(path)}});
  }
  for (const std::string& file : tier_facts_.spaces_damaged)
    log_->error("an NVMe path lost spaces", {{"cause", damaged_spaces_text(file)}});
  if (tier_ == nullptr) log_->error("no NVMe tier", {{"cause", tier_facts_.refusal}});
}

// Before any client: what is on disk is of specs that nobody has registered yet.
void Daemon::describe_spaces() {
  if (tier_ == nullptr) return;
  for (const DiskSpace& space : tier_->take_known_spaces()) {
    const Result<SpaceIds> ids = store_->disk_space(space.namespace_name, space.encoding);
    if (ids.is_ok()) continue;
    log_->warn("blocks on disk are given up: their space finds no place",
               {{"namespace", space.namespace_name}, {"cause", ids.status().message()}});
  }
  store_->disk_open();
}

std::string Daemon::recovery() const {
  if (tier_ == nullptr || config_->nvme.recover == NvmeRecover::kBehind) return {};
  const DiskSnapshot view = tier_->snapshot().read();
  if (view.state != NvmeTierState::kWaiting && view.state != NvmeTierState::kRecovering) return {};
  return "reading what is on disk: " + std::to_string(view.recovery_done) + " of " +
         std::to_string(view.recovery_total);
}

void Daemon::close_tier() {
  if (tier_runner_ == nullptr || round_ == nullptr) return;
  round_->close_tier();
  const TimeNs end_ns = clock_.now_ns() + kCloseNs;
  while (!round_->is_tier_over() && clock_.now_ns() < end_ns) pause();
  if (round_->is_tier_over()) return;
  log_->warn("the NVMe tier did not end in time: it is recovered at the next start",
             {{"waited", format_duration(kCloseNs)}});
}

}  // namespace kvtier
