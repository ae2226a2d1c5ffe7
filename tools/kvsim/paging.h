#pragma once
// A trace of lengths through paged and contiguous allocation, in pools of one size.

#include <string>
#include <vector>

#include "libkvclient/base/result.h"
#include "tools/kvsim/command_line.h"
#include "tools/paging/simulation.h"

namespace kvtier::sim {

struct PagingReport {
  std::string trace;
  std::uint64_t requests = 0;
  std::uint64_t left_out = 0;  ///< longer than max_tokens
  std::uint32_t block_tokens = 0;
  std::uint64_t pool_tokens = 0;
  std::uint64_t max_tokens = 0;
  double decode_tokens_per_s = 0;
  std::vector<PagingResult> schemes;  ///< paged; contiguous max, pow2, oracle

  [[nodiscard]] const PagingResult& paged() const { return schemes[0]; }
  [[nodiscard]] const PagingResult& reserved_to_the_maximum() const { return schemes[1]; }
};

/// kInvalid: the pool does not hold one sequence of max_tokens; else as read_length_trace.
Result<PagingReport> compare_paging(const PagingOptions& options);

}  // namespace kvtier::sim
