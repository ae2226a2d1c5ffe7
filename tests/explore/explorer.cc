#include "tests/explore/explorer.h"

#include <array>
#include <unordered_set>

#include "libkvclient/base/prng.h"

namespace kvtier::explore {
namespace {

struct Fingerprint {
  std::uint64_t low = 0x243f6a8885a308d3ULL;
  std::uint64_t high = 0x13198a2e03707344ULL;

  void add(std::uint64_t value) {
    low = mix64(low ^ value);
    high = mix64(high + value * 0x9e3779b97f4a7c15ULL + 1);
  }
  void add(const View& view) {
    std::uint64_t packed = 0;
    std::size_t count = 0;
    for (const auto* bytes : {view.seen.data(), view.reads.data()}) {
      const std::size_t size = bytes == view.seen.data() ? view.seen.size() : view.reads.size();
      for (std::size_t i = 0; i < size; ++i) {
        packed = packed << 8 | bytes[i];
        if (++count % 8 == 0) add(packed);
      }
    }
    add(packed);
  }
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

struct FingerprintHash {
  std::size_t operator()(const Fingerprint& fingerprint) const { return fingerprint.low; }
};

Fingerprint fingerprint_of(const State& state) {
  Fingerprint sum;
  sum.add(state.dead_processes);
  for (const ThreadState& thread : state.threads) {
    sum.add(thread.results.size());
    for (const std::uint64_t result : thread.results) sum.add(result);
    sum.add(thread.view);
  }
  for (const Location& location : state.locations) {
    sum.add(location.messages.size() << 8 | location.seq_cst_floor);
    for (const std::uint8_t read : location.read_at) sum.add(read);
    for (const Message& message : location.messages) {
      sum.add(message.value);
      sum.add(message.is_rmw ? 1 : 0);
      sum.add(message.released);
    }
  }
  return sum;
}

const char* name_of(OpKind kind) {
  static constexpr std::array kNames = {"load", "store", "add",    "exchange", "compare_exchange", "await",
                                        "read", "write", "choose", "see_exit", "await_exit"};
  static_assert(kNames.size() == static_cast<std::size_t>(OpKind::kAwaitExit) + 1);
  return kNames[static_cast<std::size_t>(kind)];
}

class Search {
 public:
  explicit Search(const Scenario& scenario) : scenario_(scenario), machine_(scenario) {}

  Report run() {
    visit(machine_.initial_state());
    report_.state_count = known_.size();
    return report_;
  }

 private:
  bool has_failed() const { return !report_.failure.empty(); }

  void visit(const State& state) {
    if (state.failure != nullptr) return fail(state.failure);
    if (!known_.insert(fingerprint_of(state)).second) return;
    if (known_.size() > kStatesMax) return fail("more states than the explorer goes through");
    // An operation that commutes with all others runs first and alone.
    for (std::size_t thread = 0; thread < state.threads.size(); ++thread) {
      if (machine_.is_live(state, thread) && state.threads[thread].pending.is_local)
        return visit_thread(state, thread);
    }
    for (std::size_t thread = 0; thread < state.threads.size() && !has_failed(); ++thread) {
      if (machine_.is_live(state, thread)) visit_thread(state, thread);
    }
    for (std::uint8_t process = 0; process < 8 && !has_failed(); ++process) {
      if (machine_.may_die(state, process)) visit_death(state, process);
    }
  }

  void visit_thread(const State& state, std::size_t thread) {
    for (const std::uint8_t option : machine_.options(state, thread)) {
      State next = state;
      machine_.run(next, thread, option);
      trace_.push_back(
          {static_cast<int>(thread), state.threads[thread].pending, next.threads[thread].results.back()});
      visit(next);
      trace_.pop_back();
      if (has_failed()) return;
    }
  }

  void visit_death(const State& state, std::uint8_t process) {
    State next = state;
    next.dead_processes |= 1U << process;
    trace_.push_back({-1, {}, process});
    visit(next);
    trace_.pop_back();
  }

  void fail(const char* message) {
    if (has_failed()) return;
    report_.failure = scenario_.name + ": " + message;
    for (const Step& step : trace_) report_.trace += to_text(step);
  }

  struct Step {
    int thread;  ///< -1: the process `result` is killed
    Op op;
    std::uint64_t result;
  };
  static std::string to_text(const Step& step) {
    if (step.thread < 0) return "process " + std::to_string(step.result) + " is killed\n";
    return "thread " + std::to_string(step.thread) + ": " + name_of(step.op.kind) + " location " +
           std::to_string(step.op.location) + " operand " + std::to_string(step.op.operand) + " -> " +
           std::to_string(step.result) + "\n";
  }

  const Scenario& scenario_;
  Machine machine_;
  Report report_;
  std::unordered_set<Fingerprint, FingerprintHash> known_;
  std::vector<Step> trace_;
};

}  // namespace

Report explore(const Scenario& scenario) {
  return Search(scenario).run();
}

}  // namespace kvtier::explore
