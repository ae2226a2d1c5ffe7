#pragma once
// Reads the mapped counters file of a daemon that may hang or be dead. The file's bytes are checked, not
// trusted.

#include <string>
#include <string_view>
#include <vector>

#include "libkvclient/base/clock.h"
#include "libkvclient/base/result.h"
#include "libkvclient/wire/counters_layout.h"

namespace kvtier {

struct CounterSample {
  std::string name;
  std::string unit;
  std::string help;
  CounterKind kind = CounterKind::kCounter;
  std::uint64_t value = 0;
};

struct ErrorSample {
  std::string text;
  std::uint32_t level = 0;
  std::uint64_t count = 0;
  std::uint64_t first_realtime_ns = 0;
  std::uint64_t last_realtime_ns = 0;
};

struct CountersIdentity {
  std::string instance;
  std::string program_version;
  std::uint32_t pid = 0;
  TimeNs start_monotonic_ns = 0;
  std::uint64_t start_realtime_ns = 0;
};

/// Thread: any one. Holds a read-only mapping for its life; a new daemon makes a new file, so open again
/// then.
class CountersReader {
 public:
  /// kNotFound: no daemon ever ran here. kVersion: another layout. kCorrupt: not a counters file.
  static Result<CountersReader> open(const std::string& path);

  CountersReader(CountersReader&& other) noexcept;
  CountersReader& operator=(CountersReader&& other) noexcept;
  CountersReader(const CountersReader&) = delete;
  CountersReader& operator=(const CountersReader&) = delete;
  ~CountersReader();

  [[nodiscard]] CountersIdentity identity() const;
  /// CLOCK_MONOTONIC of the conductor's last round; compare with SystemClock.
  [[nodiscard]] TimeNs heartbeat_ns() const;
  /// All counters, in the order of the daemon's table.
  [[nodiscard]] std::vector<CounterSample> read() const;
  /// Distinct errors, oldest first.
  [[nodiscard]] std::vector<ErrorSample> errors() const;
  [[nodiscard]] std::uint64_t errors_other_count() const;

 private:
  CountersReader(const std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  [[nodiscard]] const CountersHeader& header() const;

  const std::byte* data_;
  std::size_t bytes_;
};

}  // namespace kvtier
