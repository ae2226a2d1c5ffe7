#include "tools/kvbench/support/daemon_counters.h"

#include "tools/kvbench/support/failure.h"

namespace kvtier::bench {
namespace {

CountersReader open_counters(const std::string& path) {
  Result<CountersReader> reader = CountersReader::open(path);
  if (!reader.is_ok()) throw Failure("counters file " + path + ": " + reader.status().to_string());
  return std::move(reader).value();
}

}  // namespace

DaemonCounters::DaemonCounters(const std::string& path) : reader_(open_counters(path)) {}

std::uint64_t DaemonCounters::value(const std::string& name) const {
  for (const CounterSample& sample : reader_.read()) {
    if (sample.name == name) return sample.value;
  }
  throw Failure("the daemon has no counter " + name);
}

}  // namespace kvtier::bench
