#include "tests/kill/timed_call.h"

#include <cstdio>
#include <cstring>

namespace kvtier::kill {
namespace {

// What a client may meet while others compute, evict, and daemons die.
bool is_expected(int code) {
  switch (code) {
    case KVC_OK:
    case KVC_NOT_FOUND:
    case KVC_EXISTS:
    case KVC_PENDING:
    case KVC_NO_SPACE:
    case KVC_UNAVAILABLE:
    case KVC_DEADLINE:
    case KVC_STALE:
      return true;
    default:
      return false;
  }
}

}  // namespace

void TimedCalls::note(const Timing& timing, int code) {
  const auto at = static_cast<std::size_t>(timing.verb);
  add_to(cell_.latencies[at][latency_step(timing.took_ns)]);
  raise_to(cell_.max_ns[at], timing.took_ns);
  if (timing.verb == Verb::kControl) return;
  if (is_call(timing.verb)) keep_worst(cell_.longest, timing, timing.took_ns);
  if (timing.took_ns > timing.deadline_ns)
    keep_worst(cell_.latest, timing, timing.took_ns - timing.deadline_ns);
  if (code == KVC_UNAVAILABLE) add_to(cell_.unavailable);
  if (code == KVC_DEADLINE) add_to(cell_.deadlines);
  if (!is_expected(code)) unexpected(timing.verb, code, kvc_last_error());
}

void TimedCalls::keep_worst(WorstCall& worst, const Timing& timing, TimeNs excess_ns) {
  if (excess_ns <= worst.excess_ns.load(std::memory_order_relaxed)) return;
  worst.excess_ns.store(excess_ns, std::memory_order_relaxed);
  worst.begin_ns.store(timing.begin_ns, std::memory_order_relaxed);
  worst.took_ns.store(timing.took_ns, std::memory_order_relaxed);
  worst.verb.store(static_cast<std::uint64_t>(timing.verb), std::memory_order_relaxed);
}

void TimedCalls::unexpected(Verb verb, int code, const char* text) {
  add_to(cell_.unexpected_codes);
  char line[200];
  std::snprintf(line, sizeof line, "%s answered %s: %.120s", kVerbNames[static_cast<std::size_t>(verb)],
                kvc_code_name(code), text);
  first_error(line);
}

void TimedCalls::wrong(const char* text) {
  add_to(cell_.wrong_blocks);
  first_error(text);
}

void TimedCalls::first_error(const char* text) {
  if (cell_.first_error[0] == '\0') std::strncpy(cell_.first_error, text, sizeof cell_.first_error - 1);
}

}  // namespace kvtier::kill
