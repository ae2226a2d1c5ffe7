#pragma once
// The bars: what a run asks for, and what it found. Each prints one JSON line.

#include <cstdint>
#include <string>

#include "tests/kill/call_figures.h"
#include "tests/kill/crew.h"
#include "tests/kill/kill_points.h"
#include "tests/kill/leak_check.h"

namespace kvtier::kill {

struct BarOptions {
  std::string bin_dir;
  std::uint32_t kills = 20;
  std::uint64_t seed = 1;
  bool is_cold = false;                ///< daemon bar: no keeper
  bool uses_faults = false;            ///< clients bar: victims die at named points, else at random
  bool is_any_latency = false;         ///< latencies are printed and do not decide
  std::string point;                   ///< of these only this one
  std::uint32_t kills_per_keeper = 6;  ///< daemon bar: its back-off grows with each death
  std::uint32_t deadline_ms = 1000;    ///< of the workers' calls
};

inline constexpr std::uint32_t kOthers = 6;
inline constexpr std::uint32_t kVictim = kOthers;
inline constexpr TimeNs kCallMaxNs = 50 * kNsPerMs;
inline constexpr TimeNs kReclaimMaxNs = kNsPerSecond;

struct BarResult {
  std::string bench;
  std::uint64_t kills = 0;
  std::uint64_t errors = 0;  ///< wrong blocks, unexplained codes, lost workers, silent daemons
  std::uint64_t leaked = 0;
  TimeNs reclaim_max_ns = 0;
  TimeNs up_max_ns = 0;       ///< daemon bar: from the kill until the next daemon's heart beats
  TimeNs serving_max_ns = 0;  ///< daemon bar: from the kill until all clients are back
  TimeNs control_stall_ns = 0;
  KillPoints points;
  CallFigures calls;                             ///< of the workers that are not killed
  std::map<std::string, std::uint64_t> figures;  ///< sums over all workers and daemons
  std::string notes;

  void fail(std::uint64_t count, const std::string& why);
  /// Adds an ended crew's figures; the first `others` cells count for the latencies.
  void add(const Crew& crew, std::uint32_t others, const StallMeter& stalls);
  void add_counters(CounterValues now);
  /// Prints; the exit status.
  [[nodiscard]] int finish(bool is_ok);

 private:
  void expect_work();
};

int run_clients_bar(const BarOptions& options);
int run_daemon_bar(const BarOptions& options);
int run_disk_bar(const BarOptions& options);

}  // namespace kvtier::kill
