#include "tools/traces/trace.h"

#include <algorithm>

namespace kvtier::sim {

void cut(Trace& trace, std::uint64_t requests) {
  if (requests == 0 || requests >= trace.requests.size()) return;
  trace.requests.resize(requests);
  const Request& last = trace.requests.back();
  trace.blocks.resize(last.first + last.count);
  const auto most = std::ranges::max_element(trace.blocks);
  trace.unique = most == trace.blocks.end() ? 0 : *most + 1;  // numbers are in order of first use
}

void pace(Trace& trace, double interval_ms) {
  for (std::size_t i = 0; i < trace.requests.size(); ++i)
    trace.requests[i].time_ms = static_cast<std::uint64_t>(static_cast<double>(i) * interval_ms);
}

}  // namespace kvtier::sim
