// The only user of spdlog. Its exceptions end here: it calls the error handler instead of throwing.
#include "daemon/observe/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <vector>

#include "daemon/observe/journal.h"
#include "daemon/observe/log_text.h"

namespace kvtier {
namespace {

constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%eZ %-7l %v";
constexpr const char* kJsonPattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l",%v})";

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return spdlog::level::trace;
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      break;
  }
  return spdlog::level::off;
}

spdlog::sink_ptr make_sink(const LogOptions& options) {
  if (options.stream != nullptr)
    return std::make_shared<spdlog::sinks::ostream_sink_mt>(*options.stream, true);
  return std::make_shared<spdlog::sinks::stderr_sink_mt>();
}

}  // namespace

struct Log::Sink {
  spdlog::logger logger;
  const bool is_json;
  const bool is_journal;

  explicit Sink(const LogOptions& options)
      : logger("kvtierd", make_sink(options)),
        is_json(options.is_json),
        is_journal(options.target == LogTarget::kJournal && options.stream == nullptr) {
    const char* pattern = is_json ? kJsonPattern : kTextPattern;
    logger.set_formatter(
        std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc));
    logger.set_level(spdlog_level(options.level));
    logger.flush_on(spdlog::level::trace);
  }

  void write(LogLevel level, std::string_view message, std::span<const LogField> fields) {
    // Without a journal the line goes to stderr: nothing is lost in silence.
    if (is_journal && journal_send(level, message, fields)) return;
    const std::string line = is_json ? log_line_json(message, fields) : log_line_text(message, fields);
    logger.log(spdlog_level(level), spdlog::string_view_t(line.data(), line.size()));
  }
};

Log::Log(const LogOptions& options, ErrorLog* errors, Counters* counters)
    : sink_(std::make_unique<Sink>(options)), errors_(errors), counters_(counters) {}

Log::~Log() = default;

bool Log::is_on(LogLevel level) const {
  return sink_->logger.should_log(spdlog_level(level));
}

void Log::set_level(LogLevel level) {
  sink_->logger.set_level(spdlog_level(level));
}

void Log::write(LogLevel level, std::string_view message, Fields fields) {
  const std::span<const LogField> span(fields.begin(), fields.size());
  const bool is_stored = level >= LogLevel::kWarn && level < LogLevel::kOff && errors_ != nullptr;
  if (!is_stored) return is_on(level) ? write_due(level, message, span) : void();
  const ErrorLog::Seen seen = errors_->record(level, message, log_detail(span));
  if (!seen.is_print_due && counters_ != nullptr) counters_->add_shared(Counter::kLogSuppressed);
  if (!seen.is_print_due || !is_on(level)) return;
  if (seen.unprinted + seen.unprinted_other == 0) return write_due(level, message, span);
  std::vector<LogField> more(span.begin(), span.end());
  if (seen.unprinted != 0) more.emplace_back("repeated", seen.unprinted);
  if (seen.unprinted_other != 0) more.emplace_back("others_held_back", seen.unprinted_other);
  write_due(level, message, more);
}

void Log::write_due(LogLevel level, std::string_view message, std::span<const LogField> fields) {
  if (counters_ != nullptr) counters_->add_shared(Counter::kLogLines);
  sink_->write(level, message, fields);
}

}  // namespace kvtier
