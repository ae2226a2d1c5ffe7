// kill -9 of a client, again and again, while six others work: no wrong byte, everything of the dead comes
// back, and nobody else notices.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>

#include "tests/kill/bars.h"
#include "tests/kill/stall_meter.h"
#include "tests/unit/session/scratch_dir.h"

namespace kvtier::kill {
namespace {

constexpr std::uint32_t kSettleEvery = 10;
constexpr TimeNs kPatienceNs = 20 * kNsPerSecond;

constexpr std::array kPoints = {
    "client.handshake.connected",   "client.handshake.after_hello", "client.handshake.after_welcome",
    "client.slab_add.mapped",       "client.slab_revoke.protected", "client.request.before_send",
    "client.request.sent",          "client.reserve.answered",      "client.reserve.lent",
    "client.finish.before_publish", "client.finish.published",      "client.acquire.after_pin",
    "client.acquire.leased",        "client.release.before",        "client.release.unpinned"};

class ClientsBar {
 public:
  explicit ClientsBar(const BarOptions& options)
      : options_(options), daemon_({.bin_dir = options.bin_dir, .dir = dir_.path()}), prng_(options.seed) {
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
      result_.control_stall_ns = stalls.max_ns();
      result_.fail(crew.stop(), "workers did not end cleanly");
      result_.add(crew, kOthers);
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
    // A call that goes to the daemon and back wakes two threads: on a machine that makes a thread wait, two
    // such waits are not the daemon's. `is_within_50_ms` has the verdict without this allowance.
    const TimeNs call_max_ns = kCallMaxNs + 2 * result_.control_stall_ns;
    return result_.finish(is_settled && result_.max_call_ns() <= call_max_ns);
  }

 private:
  void work(Crew& crew) {
    for (std::uint32_t i = 0; i < kOthers; ++i) crew.start(i);
    for (std::uint32_t i = 0; i < kOthers; ++i) {
      if (!crew.wait_running(i, kPatienceNs)) return result_.fail(1, "a worker does not start");
    }
    while (result_.kills < options_.kills && result_.errors < 20) {
      kill_one(crew);
      ++result_.kills;
      if (result_.kills % kSettleEvery == 0) settle(crew);
    }
  }

  void kill_one(Crew& crew) {
    const bool is_at_point = options_.uses_faults && result_.kills % 2 == 0;
    if (is_at_point) {
      // Each point in turn; how often it is passed before is chance.
      const char* point = kPoints[result_.kills / 2 % kPoints.size()];
      const std::uint64_t pass = 1 + prng_.below(is_rare(point) ? 2 : 20);
      crew.start(kVictim, {"KVTIER_FAULTS=" + std::string(point) + "=crash@" + std::to_string(pass)});
      const int code = crew.join(kVictim, 3 * kNsPerSecond);
      if (code == 128 + SIGKILL) ++result_.kills_at_points;
      if (code != 128 + SIGKILL && code != -1) result_.fail(1, "a victim ended with " + std::to_string(code));
    } else {
      crew.start(kVictim);
      if (!chance(10) && !crew.wait_running(kVictim, kPatienceNs)) result_.fail(1, "a victim does not start");
      ::usleep(static_cast<useconds_t>(1000 + prng_.below(150'000)));
      ::kill(crew.pid(kVictim), SIGKILL);
      const int code = crew.join(kVictim, kPatienceNs);
      if (code != 128 + SIGKILL) result_.fail(1, "a victim ended with " + std::to_string(code));
    }
    measure_reclaim(crew);
  }

  // A handshake happens once in a process; a slab comes a few times.
  static bool is_rare(const std::string& point) {
    return point.starts_with("client.handshake") || point.starts_with("client.slab");
  }

  // The exit of a session and the return of what it held are one step of the store: the gauges show both.
  void measure_reclaim(Crew& crew) {
    const SystemClock clock;
    const TimeNs exit_ns = clock.now_ns();
    while (true) {
      CounterValues now = daemon_.counters();
      const TimeNs took_ns = clock.now_ns() - exit_ns;
      result_.reclaim_max_ns = std::max(result_.reclaim_max_ns, took_ns);
      if (now["sessions"] == kOthers && now["zombies"] == 0 && now["slots_quarantined"] == 0) break;
      if (took_ns > 5 * kReclaimMaxNs) {
        ++result_.leaked;
        result_.notes += "after a kill: " + unsettled(daemon_, kOthers) + "; ";
        break;
      }
      ::usleep(1000);
    }
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
  BarResult result_;
};

}  // namespace

int run_clients_bar(const BarOptions& options) {
  return ClientsBar(options).run();
}

}  // namespace kvtier::kill
