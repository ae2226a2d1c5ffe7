// kill -9 of kvtierd under load, warm (kvtier-keeper holds its memory) and cold: every call of every client
// ends within its deadline, and no handle ever shows another block's bytes.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "tests/kill/bars.h"
#include "tests/support/scratch_dir.h"

namespace kvtier::kill {
namespace {

constexpr TimeNs kPatienceNs = 20 * kNsPerSecond;
/// Until the next daemon serves. Who starts it must reap the killed one first, and Linux 6.18 was seen to keep its
/// parent in release_task for half a minute, while another reader of /proc/PID was kept off a busy processor.
constexpr TimeNs kUpNs = 60 * kNsPerSecond;
/// so long after a daemon serves again its clients are back.
constexpr TimeNs kBackNs = 5 * kNsPerSecond;
/// A call that waits until its deadline ends after it: so much later at most, wake-ups included.
constexpr TimeNs kOverrunNs = 20 * kNsPerMs;

/// Of so many warm restarts some come late enough after a commit to have blocks to adopt.
constexpr std::uint64_t kAdoptingKills = 50;

class DaemonBar {
 public:
  explicit DaemonBar(const BarOptions& options) : options_(options), prng_(options.seed) {
    result_.bench = options.is_cold ? "kill_daemon_cold" : "kill_daemon_warm";
  }

  int run() {
    for (std::uint32_t epoch = 0; result_.kills < options_.kills && result_.errors < 20; ++epoch)
      run_epoch(epoch);
    if (!options_.is_cold && result_.kills >= kAdoptingKills)
      result_.fail(result_.figures["blocks_adopted"] == 0 ? 1 : 0, "no restart was warm");
    return result_.finish((options_.is_any_latency || result_.calls.overrun_max_ns() <= kOverrunNs) &&
                          result_.reclaim_max_ns <= kReclaimMaxNs);
  }

 private:
  // One keeper with a few deaths, then the books: its back-off makes more of them slow.
  void run_epoch(std::uint32_t epoch) {
    const std::string dir = dir_.file("epoch" + std::to_string(epoch));
    std::filesystem::create_directory(dir);
    DaemonHost daemon({.bin_dir = options_.bin_dir, .dir = dir, .is_kept = !options_.is_cold});
    if (!daemon.start()) return result_.fail(1, "the daemon does not start");
    {
      Crew crew(dir, {.socket_path = daemon.socket(),
                      .seed = options_.seed * 100 + epoch,
                      .deadline_ms = options_.deadline_ms,
                      .hold_ms_max = 400});
      for (std::uint32_t i = 0; i < kOthers; ++i) crew.start(i);
      for (std::uint32_t i = 0; i < kOthers; ++i) {
        if (!crew.wait_running(i, kPatienceNs)) return result_.fail(1, "a worker does not start");
      }
      kill_several(daemon, crew);
      result_.fail(crew.stop(), "workers did not end cleanly");
      result_.add(crew, kOthers, stalls_);
    }
    close_books(daemon);
  }

  void kill_several(DaemonHost& daemon, Crew& crew) {
    pid_t served_by = daemon.daemon_pid();
    for (std::uint32_t i = 0; i < options_.kills_per_keeper && result_.kills < options_.kills; ++i) {
      live();
      const pid_t pid = daemon.daemon_pid();
      result_.fail(pid == served_by ? 0 : 1, "the daemon died by itself");
      result_.add_counters(daemon.counters());
      const SystemClock clock;
      const TimeNs killed_ns = clock.now_ns();
      if (!daemon.kill_daemon()) return result_.fail(1, "there is no daemon to kill");
      ++result_.kills;
      if (!daemon.wait_until_serving(pid, 0, kUpNs)) return result_.fail(1, "the daemon does not come back");
      result_.up_max_ns = std::max(result_.up_max_ns, clock.now_ns() - killed_ns);
      if (!daemon.wait_until_serving(pid, kOthers, kBackNs)) {
        result_.fail(1,
                     "R-11: clients are not back: sessions " + std::to_string(daemon.counters()["sessions"]));
      }
      served_by = daemon.daemon_pid();
      result_.serving_max_ns = std::max(result_.serving_max_ns, clock.now_ns() - killed_ns);
      result_.fail(crew.lost().size(), "a worker ended");
    }
    ::usleep(200'000);
  }

  // Mostly short; now and then long enough for checksums, a second after the commit, so that there is
  // something to adopt.
  void live() {
    ::usleep(static_cast<useconds_t>(50'000 + prng_.below(700'000)));
    if (!options_.is_cold && prng_.below(4) == 0) ::usleep(1'500'000);
  }

  void close_books(DaemonHost& daemon) {
    const SystemClock clock;
    const TimeNs begin_ns = clock.now_ns();
    while (!unsettled(daemon, 0).empty() && clock.now_ns() - begin_ns < kReclaimMaxNs) ::usleep(1000);
    result_.reclaim_max_ns = std::max(result_.reclaim_max_ns, clock.now_ns() - begin_ns);
    result_.add_counters(daemon.counters());
    const LeakReport leaks = check_leaks(daemon);
    result_.leaked += leaks.leaked;
    result_.notes += leaks.text;
    result_.fail(daemon.stop() == 0 ? 0 : 1, "the daemon did not end cleanly");
    if (result_.errors + result_.leaked > 0) std::fprintf(stderr, "%s\n", daemon.output_tail().c_str());
  }

  const BarOptions options_;
  test::ScratchDir dir_;
  const StallMeter stalls_;
  Prng prng_;
  BarResult result_;
};

}  // namespace

int run_daemon_bar(const BarOptions& options) {
  return DaemonBar(options).run();
}

}  // namespace kvtier::kill
