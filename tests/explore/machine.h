#pragma once
// The memory model: C++20 atomics without load buffering (RC11: program order and reads-from have no cycle),
// by messages and views.
//
// - A location is the list of its writes in modification order. A thread's view says how far it has seen each
//   location; a load may read any write that is not older. A store goes anywhere behind what its thread has
//   seen, but not between a read-modify-write and what that read.
// - A release write carries its thread's view, an acquire load joins it. A read-modify-write passes on what
//   the write that it read carried (release sequences as of C++20).
// - seq_cst: acquire and release, and a seq_cst access does not read or write behind the last seq_cst write
//   of the same location that ran before it. That makes the order in which seq_cst operations run their one
//   total order S. Approximation: S is thereby also consistent with relaxed communication, which the standard
//   does not ask (it asks it of happens-before only). The error is on the strong side: some outcomes that C++
//   allows are not tried. No multi-copy-atomic machine (x86, AArch64, RISC-V) has them.
// - Non-atomic data: a read must have seen the last write, a write the last write and all reads; all else is a
//   race, and a failure. That is decided by views, whatever the schedule, so data operations need no
//   interleaving.
// - A process can be killed between any two operations. Its exit, when seen, passes on all its threads' views
//   (the kernel orders it).
//
// No fences: the protocols have none. No consume, no mixed sizes.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/explore/model_memory.h"

namespace kvtier::explore {

inline constexpr std::size_t kLocationsMax = 20;
inline constexpr std::size_t kThreadsMax = 4;

struct Program {
  std::function<void()> body;
  std::uint8_t process = 0;
};

/// A small program over shared cells. What its programs capture lives in `world`.
struct Scenario {
  std::string name;
  std::vector<Program> programs;
  std::vector<std::uint64_t> initial;
  std::uint32_t mortal_processes = 0;  ///< bit p: process p may be killed at any step
};

struct View {
  std::array<std::uint8_t, kLocationsMax> seen{};  ///< index of the newest write seen, a location
  std::array<std::uint8_t, kThreadsMax> reads{};   ///< data reads of each thread that are known to be over
  void join(const View& other);
};

struct Message {
  std::uint64_t value = 0;
  View released;
  bool is_rmw = false;
};

struct Location {
  std::vector<Message> messages;
  std::uint8_t seq_cst_floor = 0;                   ///< index of the last seq_cst write that ran
  std::array<std::uint8_t, kThreadsMax> read_at{};  ///< data: each reader's count at its last read
};

struct ThreadState {
  std::vector<std::uint64_t> results;
  View view;
  Op pending;
  bool is_done = false;
};

struct State {
  std::vector<Location> locations;
  std::vector<ThreadState> threads;
  std::uint32_t dead_processes = 0;
  const char* failure = nullptr;
};

class Machine {
 public:
  explicit Machine(const Scenario& scenario) : scenario_(scenario) {}

  [[nodiscard]] State initial_state() const;
  /// Whether the thread can still run, and is not blocked for ever by its own end or death.
  [[nodiscard]] bool is_live(const State& state, std::size_t thread) const;
  /// The ways in which the thread's pending operation can go now; none: it is blocked.
  [[nodiscard]] std::vector<std::uint8_t> options(const State& state, std::size_t thread) const;
  /// Carries the pending operation out and runs the thread to its next one. Sets failure on a race or a
  /// failed expect.
  void run(State& state, std::size_t thread, std::uint8_t option) const;

  [[nodiscard]] bool may_die(const State& state, std::uint8_t process) const;

 private:
  [[nodiscard]] bool has_exited(const State& state, std::uint64_t process) const;
  void advance(State& state, std::size_t thread) const;
  std::uint64_t carry_out(State& state, std::size_t thread, std::uint8_t option) const;
  void join_process(State& state, ThreadState& thread, std::uint64_t process) const;

  const Scenario& scenario_;
};

}  // namespace kvtier::explore
