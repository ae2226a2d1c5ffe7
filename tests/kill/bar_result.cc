#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tests/kill/bars.h"

namespace kvtier::kill {
namespace {

double ms(TimeNs ns) {
  return static_cast<double>(ns / kNsPerUs) / 1000.0;
}

}  // namespace

void BarResult::fail(std::uint64_t count, const std::string& why) {
  if (count == 0) return;
  errors += count;
  if (notes.size() < 2000) notes += why + "; ";
}

void BarResult::add(const Crew& crew, std::uint32_t others) {
  for (std::uint32_t i = 0; i < kWorkersMax; ++i) {
    const WorkerCell& cell = crew.cell(i);
    figures["rounds"] += cell.rounds.load();
    figures["blocks_checked"] += cell.blocks_checked.load() + cell.blocks_rechecked.load();
    figures["blocks_committed"] += cell.blocks_committed.load();
    figures["commits_stale"] += cell.commits_stale.load();
    figures["unavailable"] += cell.unavailable.load();
    figures["deadlines"] += cell.deadlines.load();
    figures["wrong_blocks"] += cell.wrong_blocks.load();
    const std::string who = "worker " + std::to_string(i) + ": " + cell.first_error;
    fail(cell.wrong_blocks.load(), who);
    fail(cell.unexpected_codes.load(), who);
    if (i >= others) continue;
    for (std::size_t verb = 0; verb < kVerbs; ++verb) {
      TimeNs& most = verb_max_ns[kVerbNames[verb]];
      most = std::max(most, cell.max_ns[verb].load());
    }
    overrun_max_ns = std::max(overrun_max_ns, cell.overrun_max_ns.load());
  }
}

void BarResult::add_counters(CounterValues now) {
  sessions_resumed += now["sessions_resumed"];
  blocks_adopted += now["blocks_adopted"];
  evictions += now["evictions"];
  slab_revokes += now["slab_revokes"];
  slab_reshapes += now["slab_reshapes"];
  fail(now["checksum_failures"], "checksum failures");
  fail(now["protocol_errors"], "protocol errors");
}

// Opening happens once, before the load; the control is not a call.
TimeNs BarResult::max_call_ns() const {
  TimeNs most = 0;
  for (const auto& [verb, ns] : verb_max_ns) {
    if (verb != "control" && verb != "open" && verb != "register") most = std::max(most, ns);
  }
  return most;
}

int BarResult::finish(bool is_ok) const {
  nlohmann::ordered_json json;
  json["bench"] = bench;
  json["kills"] = kills;
  json["kills_at_points"] = kills_at_points;
  json["errors"] = errors;
  json["max_call_ms"] = ms(max_call_ns());
  json["control_stall_ms"] = ms(control_stall_ns);
  json["control_compute_ms"] = verb_max_ns.contains("control") ? ms(verb_max_ns.at("control")) : 0.0;
  json["reclaim_ms_max"] = ms(reclaim_max_ns);
  json["leaked"] = leaked;
  json["is_within_50_ms"] = max_call_ns() <= kCallMaxNs;
  json["overrun_ms_max"] = ms(overrun_max_ns);
  json["up_ms_max"] = ms(up_max_ns);
  json["serving_ms_max"] = ms(serving_max_ns);
  for (const auto& [verb, ns] : verb_max_ns) json["max_ms"][verb] = ms(ns);
  for (const auto& [name, value] : figures) json[name] = value;
  json["sessions_resumed"] = sessions_resumed;
  json["blocks_adopted"] = blocks_adopted;
  json["evictions"] = evictions;
  json["slab_revokes"] = slab_revokes;
  json["slab_reshapes"] = slab_reshapes;
  json["notes"] = notes;
  const bool is_good = is_ok && errors == 0 && leaked == 0;
  json["ok"] = is_good;
  std::printf("%s\n", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  return is_good ? 0 : 1;
}

}  // namespace kvtier::kill
