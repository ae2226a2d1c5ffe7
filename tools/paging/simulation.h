#pragma once
// A trace of lengths through a scheme, one model step after another (iteration-level scheduling, first come first
// served): in a step every running request produces a token, those that are done leave, and then requests are admitted
// in the order of their arrival for as long as there is room. A prompt is computed in the step that admits it. When a
// running request finds no room for its token, the one that came last is preempted; no other is admitted before those
// that were preempted are back.

#include <cstdint>
#include <span>
#include <string>

#include "tools/paging/scheme.h"

namespace kvtier::sim {

/// Shares are of sums over all steps in which a request runs, each step for the same time.
struct PagingResult {
  std::string scheme;
  std::uint64_t requests = 0;

  // Of what was allocated to running requests; the three add up to 1.
  double utilisation = 0;  ///< holds a token
  double reserved = 0;     ///< will hold one of the same request
  double unused = 0;       ///< never will
  [[nodiscard]] double fragmentation() const { return 1 - utilisation; }
  /// The same as means: of the ratio of each step, and of each request's own.
  double utilisation_step_mean = 0;
  double utilisation_request_mean = 0;

  // Of the whole pool, over the steps at whose end somebody waits; with reserved and unused they add up to 1.
  double waiting_share = 0;     ///< how many of the steps those are
  double pool_utilisation = 0;  ///< holds a token
  double pool_free = 0;         ///< not allocated: the next request does not fit
  double pool_shattered = 0;    ///< of pool_free: while it would fit, were it in one piece

  double running_mean = 0;
  std::uint64_t running_max = 0;
  double wait_mean_s = 0;  ///< from arrival to admission
  double makespan_s = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t recomputed_tokens = 0;
};

/// Requests in order of arrival, each of which the empty pool could hold.
PagingResult simulate_paging(std::span<const LengthRequest> requests, Scheme& scheme, double steps_per_s);

}  // namespace kvtier::sim
