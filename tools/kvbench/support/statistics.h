#pragma once
// Median and percentiles of samples.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace kvtier::bench {

/// The sample at `fraction` of the sorted order (0.99: p99); 0 without samples.
inline double percentile(std::vector<double> samples, double fraction) {
  if (samples.empty()) return 0;
  const auto last = static_cast<double>(samples.size() - 1);
  const auto at = std::lround(last * fraction);
  std::nth_element(samples.begin(), samples.begin() + at, samples.end());
  return samples[static_cast<std::size_t>(at)];
}

inline double median(std::vector<double> samples) {
  return percentile(std::move(samples), 0.5);
}

}  // namespace kvtier::bench
