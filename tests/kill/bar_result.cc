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

void BarResult::add(const Crew& crew, std::uint32_t others, const StallMeter& stalls) {
  control_stall_ns = std::max(control_stall_ns, stalls.max_ns());
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
    if (i < others) calls.add(cell, stalls);
  }
}

void BarResult::add_counters(CounterValues now) {
  for (const char* name : {"sessions_opened", "sessions_resumed", "blocks_adopted", "adoption_dropped",
                           "evictions", "slab_revokes", "slab_reshapes"}) {
    figures[name] += now[name];
  }
  fail(now["checksum_failures"], "checksum failures");
  fail(now["protocol_errors"], "protocol errors");
}

// A run in which nothing was read shows nothing: workers check hundreds of blocks a kill.
void BarResult::expect_work() {
  constexpr std::uint64_t kCheckedMin = 20;  // a kill
  const auto checked = figures.find("blocks_checked");
  if (checked == figures.end() || checked->second < kills * kCheckedMin)
    fail(1, "hardly a block was read and checked");
}

int BarResult::finish(bool is_ok) {
  expect_work();
  nlohmann::ordered_json json;
  json["bench"] = bench;
  json["kills"] = kills;
  json["errors"] = errors;
  json["leaked"] = leaked;
  json["max_call_ms"] = ms(calls.max_ns());
  json["is_within_50_ms"] = calls.max_ns() <= kCallMaxNs;
  json["overrun_ms_max"] = ms(calls.overrun_max_ns());
  json["reclaim_ms_max"] = ms(reclaim_max_ns);
  json["up_ms_max"] = ms(up_max_ns);
  json["serving_ms_max"] = ms(serving_max_ns);
  json["control_stall_ms_max"] = ms(control_stall_ns);
  calls.write(json);
  for (const auto& [name, value] : figures) json[name] = value;
  if (!points.fired().empty()) json["points"] = points.fired();
  if (!points.missed().empty()) json["points_missed"] = points.missed();
  json["notes"] = notes;
  const bool is_good = is_ok && errors == 0 && leaked == 0;
  json["ok"] = is_good;
  std::printf("%s\n", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  return is_good ? 0 : 1;
}

}  // namespace kvtier::kill
