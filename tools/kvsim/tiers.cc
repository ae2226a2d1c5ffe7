#include "tools/kvsim/tiers.h"

#include <algorithm>
#include <numeric>

namespace kvtier::sim {

double TierMeter::ms_of(std::size_t blocks, double gb_per_s) const {
  return static_cast<double>(blocks * options_.block_bytes) / (gb_per_s * 1e6);
}

double TierMeter::compute_ms(std::size_t blocks) const {
  return static_cast<double>(blocks * options_.block_tokens) * 1e3 / options_.prefill_tokens_per_s;
}

void TierMeter::add(std::size_t blocks, const Found& found) {
  sum_.hits_host += found.host;
  sum_.hits_nvme += found.nvme;
  sum_.bytes_restored += found.nvme * options_.block_bytes;
  // What comes from NVMe goes through memory.
  ttft_ms_.push_back(ms_of(found.nvme, options_.nvme_gb_per_s) +
                     ms_of(found.host + found.nvme, options_.host_gb_per_s) +
                     compute_ms(blocks - found.host - found.nvme));
  uncached_ms_ += compute_ms(blocks);
}

TierCosts TierMeter::costs() const {
  TierCosts costs = sum_;
  if (ttft_ms_.empty()) return costs;
  std::vector<double> sorted = ttft_ms_;
  std::ranges::sort(sorted);
  const auto count = static_cast<double>(sorted.size());
  costs.ttft_ms_mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
  costs.ttft_ms_p50 = sorted[sorted.size() / 2];
  costs.ttft_ms_p99 = sorted[sorted.size() * 99 / 100];
  costs.ttft_ms_mean_uncached = uncached_ms_ / count;
  return costs;
}

}  // namespace kvtier::sim
