#pragma once
// The daemon's log: constant message, then fields. log.warn("client refused", {{"pid", pid}, {"cause",
// "limit"}}); Warnings and errors also go to the ErrorLog, which stores each distinct message once and holds
// back repetitions: lines whose message and texts are the same. Numbers (pids, counts) make no different event.

#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string_view>

#include "daemon/observe/error_log.h"
#include "daemon/observe/log_field.h"
#include "libkvclient/base/log_level.h"

namespace kvtier {

struct LogOptions {
  LogLevel level = LogLevel::kInfo;
  LogTarget target = LogTarget::kStderr;
  bool is_json = false;
  std::ostream* stream = nullptr;  ///< tests: instead of the target
};

/// Thread-safe. A write may wait for the receiver of stderr: not for the data path.
class Log {
 public:
  using Fields = std::initializer_list<LogField>;

  /// `errors` and `counters` may be null: nothing is stored or held back, nothing counted. Both are borrowed.
  explicit Log(const LogOptions& options, ErrorLog* errors = nullptr, Counters* counters = nullptr);
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log();

  [[nodiscard]] bool is_on(LogLevel level) const;
  void set_level(LogLevel level);

  void debug(std::string_view message, Fields fields = {}) { write(LogLevel::kDebug, message, fields); }
  void info(std::string_view message, Fields fields = {}) { write(LogLevel::kInfo, message, fields); }
  void warn(std::string_view message, Fields fields = {}) { write(LogLevel::kWarn, message, fields); }
  void error(std::string_view message, Fields fields = {}) { write(LogLevel::kError, message, fields); }
  void write(LogLevel level, std::string_view message, Fields fields = {});

 private:
  struct Sink;

  void write_due(LogLevel level, std::string_view message, std::span<const LogField> fields);

  std::unique_ptr<Sink> sink_;
  ErrorLog* errors_;
  Counters* counters_;
};

}  // namespace kvtier
