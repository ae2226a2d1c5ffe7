// kill -9 of a client, again and again, while six others work: no wrong byte, everything of the dead comes
// back, and nobody else notices.

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "tests/kill/bars.h"
#include "tests/support/scratch_dir.h"

namespace kvtier::kill {
namespace {

constexpr std::uint32_t kSettleEvery = 10;
constexpr std::uint32_t kMissesMax = 20;
constexpr TimeNs kPatienceNs = 20 * kNsPerSecond;

/// A victim passes its point this soon, or it is said that it did not.
constexpr TimeNs kPointNs = 10 * kNsPerSecond;
/// The daemon writes its counters at least every 50 ms: with a heartbeat this much later they tell of an
/// exit.
constexpr TimeNs kCountersAgeNs = 75 * kNsPerMs;

class ClientsBar {
 public:
  explicit ClientsBar(const BarOptions& options)
      : options_(options), daemon_({.bin_dir = options.bin_dir, .dir = dir_.path()}), prng_(options.seed) {
    result_.points = KillPoints(options.point);
    result_.bench = options.uses_faults ? "kill_clients_faults" : "kill_clients";
  }

  int run() {
    if (!daemon_.start()) {
      result_.fail(1, "the daemon does not start");
      return result_.finish(false);
    }
    const pid_t daemon_pid = daemon_.daemon_pid();
    bool is_settled = true;
    {
      Crew crew(
          dir_.path(),
          {.socket_path = daemon_.socket(), .seed = options_.seed, .deadline_ms = options_.deadline_ms});
      const StallMeter stalls;
      work(crew);
      result_.fail(crew.stop(), "workers did not end cleanly");
      result_.add(crew, kOthers, stalls);
      is_settled = result_.reclaim_max_ns <= kReclaimMaxNs;
    }
    result_.add_counters(daemon_.counters());
    if (daemon_.daemon_pid() != daemon_pid) {
      result_.fail(1, "the daemon died by itself");
      std::fprintf(stderr, "%s", daemon_.output_tail().c_str());
    }
    const LeakReport leaks = check_leaks(daemon_);
    result_.leaked += leaks.leaked;
    result_.notes += leaks.text;
    result_.fail(daemon_.stop() == 0 ? 0 : 1, "the daemon did not end cleanly");
    return result_.finish(is_settled && (options_.is_any_latency || result_.calls.max_ns() <= kCallMaxNs));
  }

 private:
  void work(Crew& crew) {
    for (std::uint32_t i = 0; i < kOthers; ++i) crew.start(i);
    for (std::uint32_t i = 0; i < kOthers; ++i) {
      if (!crew.wait_running(i, kPatienceNs)) return result_.fail(1, "a worker does not start");
    }
    while (result_.kills < options_.kills && result_.errors < 20) {
      if (options_.uses_faults) {
        kill_at_point(crew);
      } else {
        kill_at_random(crew);
      }
      measure_reclaim(crew);
      if (result_.kills % kSettleEvery == 0) settle(crew);
    }
    const std::string never = result_.points.never_fired();
    result_.fail(never.empty() ? 0 : 1, "no victim came to " + never);
  }

  void kill_at_point(Crew& crew) {
    const KillPoints::Plan plan = result_.points.next(prng_);
    crew.start(kVictim, {.environment = plan.environment, .rounds_max = plan.rounds_max});
    const int code = crew.join(kVictim, kPointNs);
    if (code == 128 + SIGKILL) {
      result_.points.count_fired(plan);
      ++result_.kills;
      return;
    }
    result_.points.count_missed(plan);
    result_.notes += "a victim did not come to " + plan.environment[0] +
                     (code == -1 ? " in time; " : ", it ended with " + std::to_string(code) + "; ");
    if (code != -1 && code != 0) result_.fail(1, "a victim ended with " + std::to_string(code));
    if (++misses_ > kMissesMax) result_.fail(20, "too many victims did not come to their point");
  }

  void kill_at_random(Crew& crew) {
    crew.start(kVictim);
    if (!chance(10) && !crew.wait_running(kVictim, kPatienceNs)) result_.fail(1, "a victim does not start");
    ::usleep(static_cast<useconds_t>(1000 + prng_.below(150'000)));
    ::kill(crew.pid(kVictim), SIGKILL);
    const int code = crew.join(kVictim, kPatienceNs);
    if (code != 128 + SIGKILL) result_.fail(1, "a victim ended with " + std::to_string(code));
    ++result_.kills;
  }

  // From the exit until the gauges show neither its session nor anything that it held, and go on doing so in
  // counters that are surely younger than the exit.
  void measure_reclaim(Crew& crew) {
    const SystemClock clock;
    const TimeNs exit_ns = clock.now_ns();
    TimeNs settled_ns = 0;
    while (true) {
      CounterValues now = daemon_.counters();
      const bool is_settled =
          now["sessions"] == kOthers && now["zombies"] == 0 && now["slots_quarantined"] == 0;
      const TimeNs took_ns = clock.now_ns() - exit_ns;
      if (!is_settled) settled_ns = 0;
      if (is_settled && settled_ns == 0) settled_ns = took_ns;
      if (is_settled && now["heartbeat_ns"] >= exit_ns + kCountersAgeNs) break;
      if (took_ns > 5 * kReclaimMaxNs) {
        ++result_.leaked;
        result_.notes += "after a kill: " + unsettled(daemon_, kOthers) + "; ";
        settled_ns = took_ns;
        break;
      }
      ::usleep(1000);
    }
    result_.reclaim_max_ns = std::max(result_.reclaim_max_ns, settled_ns);
    result_.fail(crew.lost().size(), "another worker ended");
  }

  // With everybody standing still nothing may be held at all.
  void settle(Crew& crew) {
    if (!crew.pause(kOthers, kPatienceNs)) result_.fail(1, "a worker does not come to rest");
    const SystemClock clock;
    const TimeNs begin_ns = clock.now_ns();
    std::string text = unsettled(daemon_, kOthers);
    while (!text.empty() && clock.now_ns() - begin_ns < kReclaimMaxNs) {
      ::usleep(1000);
      text = unsettled(daemon_, kOthers);
    }
    if (!text.empty()) {
      ++result_.leaked;
      result_.notes += "at rest: " + text + "; ";
    }
    crew.resume();
  }

  bool chance(std::uint64_t percent) { return prng_.below(100) < percent; }

  const BarOptions options_;
  test::ScratchDir dir_;
  DaemonHost daemon_;
  Prng prng_;
  std::uint32_t misses_ = 0;
  BarResult result_;
};

}  // namespace

int run_clients_bar(const BarOptions& options) {
  return ClientsBar(options).run();
}

}  // namespace kvtier::kill
