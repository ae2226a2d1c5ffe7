#include "daemon/admin/nvme_status.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>

#include "daemon/io/io_status.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

using Json = nlohmann::ordered_json;

/// Its agent is not heard of for so long: it waits for a device in a system call.
constexpr TimeNs kSilentNs = 5 * kNsPerSecond;

std::string failure_text(const DiskPathSnapshot& path) {
  if (path.state == PathState::kSlow) return "its device does not answer in time";
  if (path.state == PathState::kFull)
    return "it takes nothing new: no segment is free, and none can be reclaimed, as their indexes are "
           "damaged; "
           "a restart of kvtierd makes new ones";
  if (path.error == 0) return {};
  const std::string advice(io_advice(path.error));
  return std::strerror(path.error) + (advice.empty() ? "" : "; " + advice);
}

// The agent's path of these facts; null: left out.
const DiskPathSnapshot* now_of(const NvmeTierFacts& facts, const DiskSnapshot& view, std::size_t path) {
  const auto place = std::ranges::find(facts.opened, path);
  const auto index = static_cast<std::size_t>(place - facts.opened.begin());
  return place == facts.opened.end() || index >= view.path_count ? nullptr : &view.paths[index];
}

bool is_any_serving(const DiskSnapshot& view) {
  const auto paths = std::span(view.paths).first(view.path_count);
  return std::ranges::any_of(paths, [](const DiskPathSnapshot& each) {
    return each.state == PathState::kOk || each.state == PathState::kFull;
  });
}

// The agent serves as long as it lives; the tier, with a path that does.
std::string_view tier_state(const DiskSnapshot& view) {
  return view.state == NvmeTierState::kServing && !is_any_serving(view) ? "failing"
                                                                        : nvme_tier_state_name(view.state);
}

// What a store that was refused says of its paths is nothing: none of them was looked at to the end.
std::string_view path_state(const DiskSnapshot& view, const DiskPathSnapshot* now) {
  if (now == nullptr) return "left_out";
  return view.state == NvmeTierState::kRefused ? nvme_tier_state_name(view.state)
                                               : path_state_name(now->state);
}

std::string path_cause(const DiskSnapshot& view, const DiskPathFacts& path, const DiskPathSnapshot* now) {
  if (now == nullptr) return path.cause;
  if (view.state == NvmeTierState::kRefused) return "the tier stays shut";
  return now->state == PathState::kOk ? std::string() : failure_text(*now);
}

Json path_json(const DiskSnapshot& view, const DiskPathFacts& path, const DiskPathSnapshot* now) {
  return {{"dir", path.folder},
          {"state", path_state(view, now)},
          {"cause", path_cause(view, path, now)},
          {"bytes", path.bytes},
          {"bytes_wanted", path.bytes_wanted},
          {"bytes_used", now == nullptr ? 0 : now->used_bytes},
          {"bytes_live", now == nullptr ? 0 : now->live_bytes},
          {"segment_bytes", now == nullptr ? 0 : now->segment_bytes},
          {"segments", now == nullptr ? 0 : now->segments},
          {"segments_free", now == nullptr ? 0 : now->segments_free},
          {"file_system", path.file_system},
          {"direct", path.direct.value},
          {"direct_reason", path.direct.reason},
          {"alignment", path.alignment}};
}

void add_work(const DiskSnapshot& view, Json& json) {
  const bool is_unlimited = view.budget_left_bytes == ~std::uint64_t{0};
  json["state"] = tier_state(view);
  json["takes_puts"] = view.takes_puts;
  json["wants_evidence"] = view.wants_evidence;
  json["recovery_done"] = view.recovery_done;
  json["recovery_total"] = view.recovery_total;
  json["put_bytes"] = view.stats.put_bytes;
  json["written_bytes"] = view.stats.bytes_written_total();
  json["write_amplification"] = view.stats.write_amplification();
  json["reads"] = view.stats.reads;
  json["read_bytes_average"] = view.stats.read_bytes_average();
  json["budget_left_bytes"] = is_unlimited ? Json() : Json(view.budget_left_bytes);
  json["registered_bytes"] = view.registered_bytes;
  json["region_bytes"] = view.region_bytes;
  json["requests_held"] = view.requests_held;
}

std::uint64_t sum(const DiskSnapshot& view, std::uint64_t DiskPathSnapshot::*member) {
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < view.path_count; ++i) total += view.paths[i].*member;
  return total;
}

}  // namespace

std::string nvme_tier_json(const AdminFacts& facts) {
  const bool is_there = facts.nvme_now != nullptr;
  const DiskSnapshot view = is_there ? facts.nvme_now->read() : DiskSnapshot{};
  std::uint64_t bytes = 0;
  Json paths = Json::array();
  for (std::size_t i = 0; i < facts.nvme.paths.size(); ++i) {
    const DiskPathSnapshot* now = is_there ? now_of(facts.nvme, view, i) : nullptr;
    paths.push_back(path_json(view, facts.nvme.paths[i], now));
    if (now != nullptr) bytes += facts.nvme.paths[i].bytes;
  }
  Json json = {{"name", "nvme"},
               {"bytes", bytes},
               {"bytes_used", sum(view, &DiskPathSnapshot::used_bytes)},
               {"bytes_live", sum(view, &DiskPathSnapshot::live_bytes)},
               {"backend", facts.nvme.engine.value},
               {"backend_reason", facts.nvme.engine.reason},
               {"depth", facts.nvme.depth.value}};
  add_work(view, json);
  if (!is_there) json["state"] = "refused";
  json["refusal"] = is_there ? facts.nvme_now->refusal() : facts.nvme.refusal;
  json["unregistered_reason"] = is_there ? facts.nvme_now->unregistered() : std::string();
  json["paths"] = std::move(paths);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::string> nvme_complaints(const AdminFacts& facts, TimeNs now_ns) {
  std::vector<std::string> list;
  const auto complain = [&](std::string text) {
    if (!text.empty()) list.push_back(std::move(text));
  };
  const bool is_there = facts.nvme_now != nullptr;
  const DiskSnapshot view = is_there ? facts.nvme_now->read() : DiskSnapshot{};
  const bool is_silent = is_there && now_ns > view.published_ns + kSilentNs && view.published_ns != 0;
  for (std::size_t i = 0; i < facts.nvme.paths.size(); ++i) {
    const DiskPathFacts& path = facts.nvme.paths[i];
    const DiskPathSnapshot* now = is_there ? now_of(facts.nvme, view, i) : nullptr;
    if (now == nullptr) {
      list.push_back("NVMe path " + path.folder + " is left out: " + path.cause);
    } else if (now->state != PathState::kOk) {
      list.push_back("NVMe path " + path.folder + " is " + std::string(path_state_name(now->state)) + ": " +
                     failure_text(*now));
    } else {
      if (path.is_short) list.push_back("NVMe path " + path.folder + " " + short_path_text(path));
      if (view.state == NvmeTierState::kServing && !is_silent) complain(nvme_place_complaint(path));
    }
  }
  for (const std::string& file : facts.nvme.spaces_damaged) list.push_back(damaged_spaces_text(file));
  complain(unknown_spaces_text(facts.nvme, view));
  complain(missing_path_text(facts.nvme, view));
  complain(unread_segments_text(view));
  complain(damage_text(facts.nvme, view));
  if (is_there && view.state == NvmeTierState::kRefused)
    list.push_back("the NVMe tier stays shut: " + facts.nvme_now->refusal() +
                   " Do what that says, then restart kvtierd");
  if (is_silent) list.push_back("the NVMe tier does not come round: its device or its file system hangs");
  return list;
}

}  // namespace kvtier
