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
    std::uint64_t unprinted = 0;  ///< repetitions of this detail since the last one that was due
    std::uint64_t unprinted_other =
        0;                      ///< other details for which there was no place, since the last due one
    bool is_print_due = false;  ///< a detail's first one, and then one each kPrintPeriodNs
  };
  static constexpr TimeNs kPrintPeriodNs = 10 * kNsPerSecond;
  /// Different details of one text a period. A peer that chooses its details cannot fill the log.
  static constexpr std::size_t kDetailsMax = 16;

  /// `text` is the error that is counted: constant words, no numbers that change. `detail` tells one event of it
  /// from another: a different one is due although the same error was printed just now.
  Seen record(LogLevel level, std::string_view text, std::string_view detail = {});

 private:
  struct Detail {
    std::size_t hash = 0;  // of its text: an unlikely collision holds one line back
    TimeNs printed_ns = 0;
    std::uint64_t unprinted = 0;
  };
  struct Entry {
    std::vector<Detail> details;  // at most kDetailsMax
    std::uint64_t unprinted_other = 0;
  };

  Seen repeat(std::size_t index, std::size_t hash, TimeNs now_ns);
  static Seen look_at(Entry& entry, std::size_t hash, TimeNs now_ns);
  void append(LogLevel level, std::string_view text, std::size_t hash, TimeNs now_ns);
  [[nodiscard]] std::uint64_t realtime_of(TimeNs now_ns) const;

  Counters& counters_;
  const Clock& clock_;
  std::mutex mutex_;
  std::vector<Entry> entries_;  // guarded by mutex_; index: error record
};

}  // namespace kvtier
