#include "daemon/admin/admin_lines.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "daemon/admin/nvme_status.h"
#include "daemon/admin/stats_fields.h"
#include "daemon/admin/tree_cursor.h"

namespace kvtier {
namespace {

using Json = nlohmann::ordered_json;

std::string to_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json evict_json(const EvictReport& report) {
  const KeptCounts& kept = report.kept;
  return {{"evicted", report.evicted},  {"kept", kept.total()},         {"kept_pinned", kept.pinned},
          {"kept_leased", kept.leased}, {"kept_writing", kept.writing}, {"kept_parents", kept.parents},
          {"kept_other", kept.other},   {"on_disk", kept.on_disk},      {"unsaved", report.unsaved}};
}

// In words: programs have the code.
std::string sync_reason(const SyncReport& report) {
  switch (report.code) {
    case Code::kOk:
      return "";
    case Code::kNoSpace:
      return report.cause == Cause::kWriteBudget
                 ? "the day's write budget is used up; wait, or raise nvme.write_budget_bytes_per_day"
                 : "the NVMe tier has no room for all of it; raise nvme.paths[].bytes";
    case Code::kNotFound:
      return "blocks left memory before they could be written; raise host.bytes, or write through";
    case Code::kInvalid:
      return "the NVMe tier does not take blocks of this space; see the log";
    case Code::kUnsupported:
      return "there is no NVMe tier: nothing outlives memory; name folders in nvme.paths";
    case Code::kUnavailable:
      return "the NVMe tier is shut, or its paths took nothing for 5 s; see kvctl status";
    default:
      return "a write or an fdatasync failed, now or since the daemon's start, and what was written before "
             "it "
             "may not outlive a power cut; see kvctl status, and restart the daemon when the device is well";
  }
}

Json sync_json(const SyncView& view) {
  return {{"durable", view.report.durable},
          {"unsaved", view.report.unsaved},
          {"code", code_name(view.report.code)},
          {"reason", sync_reason(view.report)},
          {"left", view.left}};
}

Json verify_json(const VerifyReport& report) {
  Json faults = Json::object();
  for (std::uint8_t i = 1; i < kDiskFaultCount; ++i) {
    if (report.faults[i] != 0)
      faults[std::string(disk_fault_name(static_cast<DiskFault>(i)))] = report.faults[i];
  }
  return {{"segments", report.segments},
          {"segments_done", report.segments_done},
          {"segments_unindexed", report.segments_unindexed},
          {"segments_unreachable", report.segments_unreachable},
          {"blocks_good", report.blocks_good},
          {"blocks_bad", report.blocks_bad},
          {"marks_good", report.marks_good},
          {"marks_bad", report.marks_bad},
          {"bytes", report.bytes},
          {"unreadable", report.unreadable},
          {"too_large", report.too_large},
          {"late", report.late},
          {"faults", std::move(faults)}};
}

Json stats_json(const StoreStats& stats) {
  Json json;
  for (const StatsField& field : kStatsFields) json[field.name] = stats.*field.member;
  return json;
}

Json version_json(const AdminFacts& facts) {
  return {{"version", facts.version}, {"instance", facts.instance}, {"pid", ::getpid()}};
}

Json start_json(const AdminFacts& facts, const AdminStatusView& view) {
  if (facts.is_warm) {
    return {{"kind", "warm"},
            {"reason", ""},
            {"blocks_adopted", view.stats.blocks_adopted},
            {"blocks_dropped", view.stats.adoption_dropped},
            {"blocks_unverified", view.unverified}};
  }
  return {{"kind", "cold"},
          {"reason", facts.cold_reason.empty() ? "no earlier instance left it" : facts.cold_reason}};
}

Json host_tier_json(const AdminFacts& facts, const AdminStatusView& view) {
  const StoreStats& stats = view.stats;
  return {{"name", "host"},
          {"bytes", stats.host_bytes},
          {"bytes_used", view.used_bytes},
          {"bytes_free", stats.host_bytes - std::min(stats.host_bytes, view.used_bytes)},
          {"bytes_huge",
           facts.is_warm ? Json() : Json(stats.host_bytes_huge)},  // nobody counts what was taken over
          {"bytes_locked", stats.host_bytes_locked},
          {"blocks_ready", stats.blocks_ready},
          {"blocks_writing", stats.blocks_writing},
          {"blocks_pinned", stats.blocks_pinned},
          {"slots_free", stats.slots_free},
          {"slots_quarantined", stats.slots_quarantined},
          {"slabs", stats.slabs_total},
          {"slabs_assigned", stats.slabs_assigned}};
}

Json status_json(const AdminFacts& facts, const AdminStatusView& view, TimeNs now_ns) {
  Json complaints = facts.complaints;
  for (const std::string& complaint : place_complaints(facts)) complaints.push_back(complaint);
  for (const std::string& complaint : nvme_complaints(facts, now_ns)) complaints.push_back(complaint);
  for (const std::string& complaint : view.complaints) complaints.push_back(complaint);
  Json config = Json::parse(facts.config_json, nullptr, false);
  if (config.is_discarded()) config = Json::array();
  Json json = {{"health", complaints.empty() ? "ok" : "degraded"}, {"complaints", std::move(complaints)}};
  json.update(version_json(facts));
  json["uid"] = ::geteuid();
  json["uptime_ms"] = (now_ns - std::min(facts.started_ns, now_ns)) / kNsPerMs;
  json["start"] = start_json(facts, view);
  json["fd_store"] = facts.fd_store;
  json["runtime_dir"] = facts.runtime_dir;
  json["counters_path"] = facts.counters_path;
  json["blocks_unverified"] = view.unverified;
  json["clients"] = view.stats.sessions;
  json["zombies"] = view.stats.zombies;
  json["metadata_bytes"] = view.stats.metadata_bytes;
  json["channel_bytes"] = view.stats.channel_bytes;
  json["tiers"] = Json::array({host_tier_json(facts, view)});
  if (!facts.nvme.paths.empty()) json["tiers"].push_back(Json::parse(nvme_tier_json(facts)));
  json["config"] = std::move(config);
  return json;
}

// What the last line has beside "done".
struct LastLine {
  const AdminFacts& facts;
  AdminVerb verb;
  TimeNs now_ns;

  Json operator()(const std::monostate&) const {
    if (verb == AdminVerb::kVersion) return version_json(facts);
    if (verb == AdminVerb::kHealth) return {{"health", "ok"}};
    return Json::object();
  }
  Json operator()(const AdminStatusView& view) const { return status_json(facts, view, now_ns); }
  Json operator()(const StoreStats& stats) const { return {{"stats", stats_json(stats)}}; }
  Json operator()(const EvictReport& report) const { return evict_json(report); }
  Json operator()(const SyncView& view) const { return sync_json(view); }
  Json operator()(const TreePage& page) const {
    return {{"count", page.rows.size()},
            {"next", page.next ? Json(tree_cursor_to_text(*page.next)) : Json()}};
  }
  template <class View>
  Json operator()(const Page<View>& page) const {
    return {{"count", page.rows.size()}, {"next", page.next ? Json(*page.next) : Json()}};
  }
};

}  // namespace

std::string error_line(const Status& status) {
  return to_line(
      {{"error", {{"code", code_name(status.code())}, {"message", status.message()}}}, {"done", true}});
}

std::string progress_line(const EvictReport& total) {
  return to_line({{"progress", evict_json(total)}});
}

std::string progress_line(const SyncView& view) {
  return to_line({{"progress", sync_json(view)}});
}

std::string verify_progress_line(const VerifyReport& report) {
  return to_line({{"progress", verify_json(report)}});
}

std::string verify_last_line(const VerifyReport& report) {
  if (report.state == VerifyState::kRefused)
    return error_line(
        {Code::kUnavailable,
         "the NVMe tier does not serve now: it opens, closes, or stays shut; see kvctl status"});
  Json json = {{"state", report.state == VerifyState::kDone ? "done" : "stopped"}};
  json.update(verify_json(report));
  json["done"] = true;
  return to_line(json);
}

std::string last_line(const AdminFacts& facts, AdminVerb verb, const AdminAnswer& answer, TimeNs now_ns) {
  if (!answer.status.is_ok()) return error_line(answer.status);
  Json json = std::visit(LastLine{facts, verb, now_ns}, answer.body);
  json["done"] = true;
  return to_line(json);
}

}  // namespace kvtier
