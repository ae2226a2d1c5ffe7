#include "daemon/observe/error_log.h"

#include <algorithm>
#include <cstring>

namespace kvtier {
namespace {

std::string_view stored(const ErrorRecord& record) {
  return {record.text, record.text_bytes};
}

}  // namespace

std::uint64_t ErrorLog::realtime_of(TimeNs now_ns) const {
  const CountersHeader& header = counters_.header();
  return header.start_realtime_ns + (now_ns - header.start_monotonic_ns);
}

ErrorLog::Seen ErrorLog::record(LogLevel level, std::string_view text) {
  text = text.substr(0, sizeof ErrorRecord::text);
  const std::lock_guard lock(mutex_);
  const TimeNs now_ns = clock_.now_ns();
  const ErrorRecord* records = counters_.error_records();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (stored(records[i]) == text) return repeat(i, now_ns);
  }
  if (entries_.size() == counters_.header().errors_max) {
    counters_.header().errors_other_count.fetch_add(1, std::memory_order_relaxed);
    return {0, 0, true};
  }
  append(level, text, now_ns);
  return {1, 0, true};
}

ErrorLog::Seen ErrorLog::repeat(std::size_t index, TimeNs now_ns) {
  ErrorRecord& record = counters_.error_records()[index];
  Entry& entry = entries_[index];
  record.last_realtime_ns.store(realtime_of(now_ns), std::memory_order_relaxed);
  const std::uint64_t count = record.count.fetch_add(1, std::memory_order_relaxed) + 1;
  const bool is_due = now_ns - entry.printed_ns >= kPrintPeriodNs;
  if (!is_due) return {count, ++entry.unprinted, false};
  const std::uint64_t unprinted = std::exchange(entry.unprinted, 0);
  entry.printed_ns = now_ns;
  return {count, unprinted, true};
}

void ErrorLog::append(LogLevel level, std::string_view text, TimeNs now_ns) {
  ErrorRecord& record = counters_.error_records()[entries_.size()];
  record.first_realtime_ns = realtime_of(now_ns);
  record.last_realtime_ns.store(record.first_realtime_ns, std::memory_order_relaxed);
  record.level = static_cast<std::uint32_t>(level);
  record.text_bytes = static_cast<std::uint32_t>(text.size());
  std::memcpy(record.text, text.data(), text.size());
  // release: a reader that sees a count sees the text.
  record.count.store(1, std::memory_order_release);
  entries_.push_back({now_ns, 0});
}

}  // namespace kvtier
