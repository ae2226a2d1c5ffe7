#pragma once
// What a replay over two tiers costs, by a stated model: a prompt's first token comes when what was found is read, from
// memory and from NVMe, and the rest is computed, one after the other.

#include <cstdint>
#include <vector>

#include "tools/traces/trace.h"

namespace kvtier::sim {

struct TierOptions {
  double nvme_percent = 0;  ///< of the different blocks; 0: there is no NVMe tier
  std::uint32_t segment_blocks = 128;
  std::uint32_t block_tokens = 512;
  std::uint64_t block_bytes = std::uint64_t{512} * 131'072;  ///< 8B: 32 layers, 8 KV heads, 128, fp16
  double host_gb_per_s = 55;                                 ///< PCIe
  double nvme_gb_per_s = 28;                                 ///< four drives
  double prefill_tokens_per_s = 10'000;
};

/// Where the blocks of one request were found.
struct Found {
  std::size_t host = 0;
  std::size_t nvme = 0;
};

struct TierCosts {
  std::uint32_t nvme_blocks = 0;
  std::uint64_t hits_host = 0;
  std::uint64_t hits_nvme = 0;
  std::uint64_t bytes_restored = 0;
  std::uint64_t bytes_written = 0;
  double write_amplification = 0;
  double ttft_ms_mean = 0;
  double ttft_ms_p50 = 0;
  double ttft_ms_p99 = 0;
  double ttft_ms_mean_uncached = 0;  ///< all computed
};

/// Adds up requests.
class TierMeter {
 public:
  explicit TierMeter(const TierOptions& options) : options_(options) {}
  void add(std::size_t blocks, const Found& found);
  /// With the times; what the disk did is the caller's to fill in.
  [[nodiscard]] TierCosts costs() const;

 private:
  [[nodiscard]] double ms_of(std::size_t blocks, double gb_per_s) const;
  [[nodiscard]] double compute_ms(std::size_t blocks) const;

  const TierOptions options_;
  TierCosts sum_;
  std::vector<double> ttft_ms_;
  double uncached_ms_ = 0;
};

}  // namespace kvtier::sim
