#include "daemon/app/tier_watch.h"

#include <cstring>

#include "daemon/io/io_status.h"
#include "libkvclient/base/digest.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

constexpr TimeNs kDamageNs = 60 * kNsPerSecond;

std::string cause_of(const DiskPathSnapshot& path) {
  if (path.state == PathState::kSlow) return "its device does not answer within nvme.io_deadline_ms";
  return path.error == 0 ? "unknown" : std::strerror(path.error);
}

}  // namespace

void TierWatch::look() {
  const DiskSnapshot view = now_.read();
  if (view.state == NvmeTierState::kRefused && !is_refused_) {
    is_refused_ = true;
    log_.error("the NVMe tier stays shut: nothing is stored there and nothing is read from it",
               {{"cause", now_.refusal()}, {"cure", "what the cause says; then restart kvtierd"}});
  }
  if (view.state == NvmeTierState::kServing && !is_recovered_) tell_recovered(view);
  look_at_damage(view);
  for (std::size_t i = 0; i < view.path_count; ++i) look_at_path(i, view.paths[i]);
}

void TierWatch::tell_recovered(const DiskSnapshot& view) {
  is_recovered_ = true;
  log_.info("the NVMe tier is recovered", {{"blocks", view.stats.recovered_blocks},
                                           {"bytes", view.recovered_bytes},
                                           {"unknown", view.unknown_entries},
                                           {"paths", view.path_count},
                                           {"took", format_duration(view.recovery_ns)}});
  const std::string unknown = unknown_spaces_text(facts_, view);
  if (!unknown.empty()) log_.warn("blocks on disk are of unknown spaces", {{"cause", unknown}});
  if (view.paths_given_up != 0) {
    log_.warn("NVMe paths that were missing are given up",
              {{"paths", view.paths_given_up},
               {"cause", "nvme.missing is give_up"},
               {"cure", "set it to keep again; a path that comes back wants its file moved away"}});
  }
  const std::string missing = missing_path_text(facts_, view);
  if (!missing.empty()) log_.warn("an NVMe path is missing", {{"cause", missing}});
  const std::string unread = unread_segments_text(view);
  if (!unread.empty()) log_.error("segments of the NVMe tier could not be read", {{"cause", unread}});
}

// The first one at once, and then a line a minute: each names a block, so none repeats another.
void TierWatch::look_at_damage(const DiskSnapshot& view) {
  const bool is_due = damage_told_ == 0 || view.published_ns >= damage_told_ns_ + kDamageNs;
  if (view.damage.count == damage_told_ || !is_due) return;
  damage_told_ = view.damage.count;
  damage_told_ns_ = view.published_ns;
  const DiskDamage& damage = view.damage;
  const bool is_known = damage.path < facts_.opened.size();
  const std::string_view folder =
      is_known ? std::string_view(facts_.paths[facts_.opened[damage.path]].folder) : "?";
  log_.error("a copy on NVMe is damaged: its block is a miss",
             {{"path", folder},
              {"offset", damage.offset},
              {"fault", disk_fault_name(damage.fault)},
              {"key", to_hex(damage.key)},
              {"space", to_hex(damage.space)},
              {"count", damage.count},
              {"cure", "look at the device, then run kvctl verify"}});
}

void TierWatch::look_at_path(std::size_t place, const DiskPathSnapshot& path) {
  const PathState before = states_[place];
  if (path.state == before || place >= facts_.opened.size()) return;
  states_[place] = path.state;
  const std::string& folder = facts_.paths[facts_.opened[place]].folder;
  const auto is_broken = [](PathState state) {
    return state == PathState::kSlow || state == PathState::kFailed;
  };
  if (path.state == PathState::kFull) {
    log_.error("NVMe path takes nothing new: it is read on",
               {{"path", folder},
                {"cause", "no segment is free, and none can be reclaimed, as their indexes are damaged"},
                {"cure", "restart kvtierd, which makes new ones"}});
  } else if (is_broken(path.state)) {
    const std::string advice(path.error == 0 ? std::string_view() : io_advice(path.error));
    log_.error("NVMe path is not used for now",
               {{"path", folder},
                {"state", path_state_name(path.state)},
                {"cause", cause_of(path)},
                {"cure", advice.empty() ? "look at its device; it is tried again by itself" : advice}});
  } else if (before != PathState::kOk) {
    log_.info("NVMe path serves again", {{"path", folder}});
  }
}

}  // namespace kvtier
