#pragma once
// Which hints the engines of a trace give, and when: each when the answer of its request is complete.

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "daemon/policy/use_hint.h"
#include "tools/traces/trace.h"

namespace kvtier::sim {

/// The kinds of hints that are given: a bit for each UseHint.
class HintSet {
 public:
  void add(UseHint hint) { bits_ |= bit(hint); }
  [[nodiscard]] bool has(UseHint hint) const { return (bits_ & bit(hint)) != 0; }
  [[nodiscard]] bool is_empty() const { return bits_ == 0; }

 private:
  static std::uint32_t bit(UseHint hint) { return 1U << static_cast<std::uint32_t>(hint); }
  std::uint32_t bits_ = 0;
};

/// What an engine tells of a request that ended so.
UseHint hint_of(const Request& request);
/// The kinds that the engines of a trace could give.
HintSet hints_of(const Trace& trace);

class HintQueue {
 public:
  /// The index of a request in Trace::requests.
  using Place = std::uint32_t;
  struct Due {
    std::uint64_t time_ms;
    Place request;
  };

  HintQueue(const Trace& trace, HintSet given)
      : trace_(trace), given_(given), of_session_(trace.sessions + 1) {}

  /// The request was served: its hint will come, if it has one.
  void served(Place request);
  /// The next one that came until `now_ms`, taken off.
  std::optional<Due> take(std::uint64_t now_ms);
  /// The requests whose blocks a hint is about, the last one first: for the end of a session all that were served of
  /// it, else `request` alone.
  [[nodiscard]] std::vector<Place> concerned(Place request) const;

 private:
  struct IsLater {
    bool operator()(const Due& a, const Due& b) const {
      return a.time_ms != b.time_ms ? a.time_ms > b.time_ms : a.request > b.request;
    }
  };

  const Trace& trace_;
  const HintSet given_;
  std::priority_queue<Due, std::vector<Due>, IsLater> due_;
  std::vector<std::vector<Place>> of_session_;  // those served, where the end of sessions is told
};

}  // namespace kvtier::sim
