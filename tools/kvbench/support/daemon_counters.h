#pragma once
// The daemon's counters file, read from outside.

#include <cstdint>
#include <string>

#include "libkvclient/wire/counters_reader.h"

namespace kvtier::bench {

class DaemonCounters {
 public:
  explicit DaemonCounters(const std::string& path);
  /// Throws on an unknown name: a benchmark that reads nothing would measure nothing.
  [[nodiscard]] std::uint64_t value(const std::string& name) const;
  [[nodiscard]] std::uint32_t daemon_pid() const { return reader_.identity().pid; }

 private:
  CountersReader reader_;
};

}  // namespace kvtier::bench
