#include "tools/kvctl/memory_probe.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "daemon/io/io_engine.h"
#include "daemon/io/io_ring.h"
#include "daemon/io/io_status.h"
#include "libkvclient/base/units.h"
#include "tools/kvctl/disk_trial.h"

namespace kvtier::ctl {
namespace {

constexpr std::uint64_t kCopyBytes = 128 * kMiB;  ///< each way
constexpr std::uint64_t kPinBytes = 256 * kMiB;

std::uint64_t rate_of(std::uint64_t bytes, TimeNs ns) {
  return static_cast<std::uint64_t>(static_cast<double>(bytes) * 1e9 /
                                    static_cast<double>(std::max<TimeNs>(ns, 1)));
}

std::uint64_t probe_copy(TimeNs time_ns) {
  const TrialMemory from(kCopyBytes, TrialPages::kThere);
  const TrialMemory to(kCopyBytes, TrialPages::kThere);
  std::memset(from.bytes().data(), 0x5a, kCopyBytes);
  const SystemClock clock;
  const TimeNs begun_ns = clock.now_ns();
  std::uint64_t bytes = 0;
  do {
    std::memcpy(to.bytes().data(), from.bytes().data(), kCopyBytes);
    bytes += kCopyBytes;
  } while (clock.now_ns() - begun_ns < time_ns);
  return rate_of(bytes, clock.now_ns() - begun_ns);
}

std::string refusal(int error) {
  return std::string("mlock: ") + std::strerror(error) + "; " + memory_lock_limit() +
         ": raise it (LimitMEMLOCK of the unit, ulimit -l)";
}

// All of it, or half of what the limit allows: others of this user may have locked some.
PinRate probe_lock(std::span<std::byte> memory) {
  const SystemClock clock;
  PinRate rate;
  rlimit limit{};
  const bool has_limit = ::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  std::uint64_t bytes = memory.size();
  for (int i = 0; i < 2 && rate.bytes_per_second == 0; ++i) {
    const TimeNs begun_ns = clock.now_ns();
    if (::mlock(memory.data(), bytes) == 0) {
      rate.bytes = bytes;
      rate.bytes_per_second = rate_of(bytes, clock.now_ns() - begun_ns);
      (void)::munlock(memory.data(), bytes);
    } else {
      rate.reason = refusal(errno);
      bytes = has_limit ? std::min<std::uint64_t>(bytes, limit.rlim_cur / 2) & ~(kPageBytes - 1) : 0;
      if (bytes == 0) break;
    }
  }
  return rate;
}

PinRate probe_registration(std::span<std::byte> memory) {
  Result<std::unique_ptr<IoBackend>> backend = open_io_engine({.depth = 1, .files_max = 1, .regions_max = 1});
  if (!backend.is_ok()) return {.reason = backend.status().message()};
  IoRing ring(std::move(backend).value(), {.requests_max = 2, .files_max = 1, .regions_max = 1});
  const SystemClock clock;
  const TimeNs begun_ns = clock.now_ns();
  const Status status = ring.set_region(IoRegion{0}, memory);
  const TimeNs took_ns = clock.now_ns() - begun_ns;
  if (!status.is_ok()) return {.reason = status.message()};
  const IoFacts facts = ring.facts();
  const std::uint64_t bytes = facts.registered_bytes.value;
  return {.bytes = bytes,
          .bytes_per_second = bytes == 0 ? 0 : rate_of(bytes, took_ns),
          .reason = facts.registered_bytes.reason};
}

}  // namespace

MemoryProbe probe_memory(TimeNs time_ns) {
  MemoryProbe probe{.copy_bytes_per_second = probe_copy(time_ns)};
  const TrialMemory memory(kPinBytes, TrialPages::kFresh);
  probe.lock = probe_lock(memory.bytes());
  probe.registration = probe_registration(memory.bytes());
  probe.lock_limit = memory_lock_limit();
  return probe;
}

}  // namespace kvtier::ctl
