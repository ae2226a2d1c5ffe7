#include "daemon/observe/error_log.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

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

ErrorLog::Seen ErrorLog::record(LogLevel level, std::string_view text, std::string_view detail) {
  text = text.substr(0, sizeof ErrorRecord::text);
  const std::size_t hash = std::hash<std::string_view>()(detail);
  const std::lock_guard lock(mutex_);
  const TimeNs now_ns = clock_.now_ns();
  const ErrorRecord* records = counters_.error_records();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (stored(records[i]) == text) return repeat(i, hash, now_ns);
  }
  if (entries_.size() == counters_.header().errors_max) {
    counters_.header().errors_other_count.fetch_add(1, std::memory_order_relaxed);
    return {.is_print_due = true};
  }
  append(level, text, hash, now_ns);
  return {.count = 1, .is_print_due = true};
}

ErrorLog::Seen ErrorLog::repeat(std::size_t index, std::size_t hash, TimeNs now_ns) {
  ErrorRecord& record = counters_.error_records()[index];
  record.last_realtime_ns.store(realtime_of(now_ns), std::memory_order_relaxed);
  const std::uint64_t count = record.count.fetch_add(1, std::memory_order_relaxed) + 1;
  Entry& entry = entries_[index];
  Seen seen = look_at(entry, hash, now_ns);
  seen.count = count;
  if (seen.is_print_due) seen.unprinted_other = std::exchange(entry.unprinted_other, 0);
  return seen;
}

// The place of a detail whose period is over may be taken; what it held back counts with the others then.
ErrorLog::Seen ErrorLog::look_at(Entry& entry, std::size_t hash, TimeNs now_ns) {
  const auto is_over = [now_ns](const Detail& each) { return now_ns - each.printed_ns >= kPrintPeriodNs; };
  if (const auto known = std::ranges::find(entry.details, hash, &Detail::hash);
      known != entry.details.end()) {
    if (!is_over(*known)) return {.unprinted = ++known->unprinted};
    known->printed_ns = now_ns;
    return {.unprinted = std::exchange(known->unprinted, 0), .is_print_due = true};
  }
  if (entry.details.size() < kDetailsMax) {
    entry.details.push_back({hash, now_ns, 0});
    return {.is_print_due = true};
  }
  const auto place = std::ranges::find_if(entry.details, is_over);
  if (place == entry.details.end()) return ++entry.unprinted_other, Seen{};
  entry.unprinted_other += place->unprinted;
  *place = {hash, now_ns, 0};
  return {.is_print_due = true};
}

void ErrorLog::append(LogLevel level, std::string_view text, std::size_t hash, TimeNs now_ns) {
  ErrorRecord& record = counters_.error_records()[entries_.size()];
  record.first_realtime_ns = realtime_of(now_ns);
  record.last_realtime_ns.store(record.first_realtime_ns, std::memory_order_relaxed);
  record.level = static_cast<std::uint32_t>(level);
  record.text_bytes = static_cast<std::uint32_t>(text.size());
  std::memcpy(record.text, text.data(), text.size());
  // release: a reader that sees a count sees the text.
  record.count.store(1, std::memory_order_release);
  entries_.push_back({.details = {{hash, now_ns, 0}}});
}

}  // namespace kvtier
