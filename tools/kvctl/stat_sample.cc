#include "tools/kvctl/stat_sample.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>

#include "libkvclient/base/units.h"
#include "tools/kvctl/exit_status.h"

namespace kvtier::ctl {
namespace {

ExitStatus exit_status_of(const Status& status) {
  return status.code() == Code::kDenied ? kExitDenied : kExitDown;
}

}  // namespace

StatSample take_stat_sample(const std::string& path) {
  Result<CountersReader> reader = CountersReader::open(path);
  if (!reader.is_ok())
    throw Failure(
        exit_status_of(reader.status()), std::string(code_name(reader.code())),
        reader.status().message() + "; the file is `counters` in the daemon's runtime_dir, see --file");
  StatSample sample;
  sample.identity = reader.value().identity();
  sample.is_running = ::kill(static_cast<pid_t>(sample.identity.pid), 0) == 0 || errno == EPERM;
  sample.now_ns = SystemClock().now_ns();
  const TimeNs beat_ns = std::max(reader.value().heartbeat_ns(), sample.identity.start_monotonic_ns);
  sample.heartbeat_age_ns = sample.now_ns - std::min(beat_ns, sample.now_ns);
  sample.counters = reader.value().read();
  sample.errors = reader.value().errors();
  return sample;
}

TimeNs parse_interval(const std::string& text) {
  const bool is_bare = text.find_first_not_of("0123456789.") == std::string::npos;
  const Result<TimeNs> interval = parse_duration(is_bare ? text + "s" : text);
  if (!interval.is_ok()) throw Failure(kExitUsage, "usage", "--interval " + interval.status().message());
  if (interval.value() < 10 * kNsPerMs || interval.value() > TimeNs{24} * 3600 * kNsPerSecond)
    throw Failure(kExitUsage, "usage", "--interval must be 10ms to 24h");
  return interval.value();
}

}  // namespace kvtier::ctl
