#pragma once
// Distinct errors, each stored once with count, first and last time, in the mapped counters file: what went
// wrong is readable without the log, and when the daemon hangs.

#include <mutex>
#include <string_view>
#include <vector>

#include "daemon/observe/counters.h"
#include "libkvclient/base/log_level.h"

namespace kvtier {

/// Thread-safe; a mutex, for errors are rare. Borrows the counters.
class ErrorLog {
 public:
  ErrorLog(Counters& counters, const Clock& clock) : counters_(counters), clock_(clock) {}

  struct Seen {
    std::uint64_t count = 0;      ///< how often, this one included; 0: no record was left
    std::uint64_t unprinted = 0;  ///< repetitions since the last one that was due
    bool is_print_due = false;    ///< the first one, and then one each kPrintPeriodNs
  };
  static constexpr TimeNs kPrintPeriodNs = 10 * kNsPerSecond;

  /// `text` tells one error from another: constant words, no numbers that change.
  Seen record(LogLevel level, std::string_view text);

 private:
  struct Entry {
    TimeNs printed_ns = 0;
    std::uint64_t unprinted = 0;
  };

  Seen repeat(std::size_t index, TimeNs now_ns);
  void append(LogLevel level, std::string_view text, TimeNs now_ns);
  [[nodiscard]] std::uint64_t realtime_of(TimeNs now_ns) const;

  Counters& counters_;
  const Clock& clock_;
  std::mutex mutex_;
  std::vector<Entry> entries_;  // guarded by mutex_; index: error record
};

}  // namespace kvtier
