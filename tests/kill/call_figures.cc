#include "tests/kill/call_figures.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace kvtier::kill {
namespace {

double ms(TimeNs ns) {
  return static_cast<double>(ns / kNsPerUs) / 1000.0;
}

nlohmann::ordered_json quantiles(const LatencyCounts& counts, TimeNs max_ns) {
  // A step's upper end may lie above the longest call of all.
  const auto at = [&](double share) { return ms(std::min(counts.quantile(share), max_ns)); };
  return {{"count", counts.count()},
          {"p50_ms", at(0.5)},
          {"p99_ms", at(0.99)},
          {"p999_ms", at(0.999)},
          {"max_ms", ms(max_ns)}};
}

}  // namespace

void CallFigures::add(const WorkerCell& cell, const StallMeter& stalls) {
  for (std::size_t verb = 0; verb < kVerbs; ++verb) {
    max_ns_[verb] = std::max(max_ns_[verb], cell.max_ns[verb].load());
    for (std::size_t step = 0; step < kLatencySteps; ++step) {
      const std::uint64_t calls = cell.latencies[verb][step].load();
      latencies_[verb].add(step, calls);
      if (is_call(static_cast<Verb>(verb))) all_.add(step, calls);
    }
  }
  add(longest_, cell.longest, stalls);
  add(latest_, cell.latest, stalls);
}

void CallFigures::add(Worst& worst, const WorstCall& call, const StallMeter& stalls) {
  if (call.excess_ns.load() <= worst.excess_ns) return;
  const TimeNs begin_ns = call.begin_ns.load();
  const TimeNs took_ns = call.took_ns.load();
  worst = {.excess_ns = call.excess_ns.load(),
           .took_ns = took_ns,
           .stall_ns = stalls.max_ns(begin_ns, begin_ns + took_ns),
           .verb = kVerbNames[call.verb.load()]};
}

void CallFigures::write(nlohmann::ordered_json& json) const {
  json["calls"] = quantiles(all_, longest_.took_ns);
  json["longest_call"] = {
      {"verb", longest_.verb}, {"ms", ms(longest_.took_ns)}, {"control_stall_ms", ms(longest_.stall_ns)}};
  json["latest_call"] = {{"verb", latest_.verb},
                         {"ms", ms(latest_.took_ns)},
                         {"overrun_ms", ms(latest_.excess_ns)},
                         {"control_stall_ms", ms(latest_.stall_ns)}};
  for (std::size_t verb = 0; verb < kVerbs; ++verb)
    json["verbs"][kVerbNames[verb]] = quantiles(latencies_[verb], max_ns_[verb]);
}

}  // namespace kvtier::kill
