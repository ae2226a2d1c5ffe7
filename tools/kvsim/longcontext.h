#pragma once
// `kvsim longcontext`: the rows of a widely copied article on long contexts, each from a simulation, beside what the
// article says of it. LONGCONTEXT.md.

#include <optional>
#include <string_view>
#include <vector>

#include "tools/kvsim/longcontext_decode.h"

namespace kvtier::sim {

struct LongContextOptions {
  /// Of every row; context, memory and prefetch are the row's.
  DecodeOptions decode;
  /// A tier's room for the pages of a sequence is what the row before it needs in all: that of 32,768 tokens on the GPU,
  /// that of 131,072 in host memory.
  double gpu_gib = 4;
  double host_gib = 16;
  std::vector<double> popularities = {0, 1};
  bool is_sweep = false;
  std::vector<std::uint32_t> sweep_budgets = {1024, 2048, 4096, 8192};  ///< tokens
  std::vector<double> sweep_localities = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95};
  bool is_json = false;
};

enum class TierSet : std::uint8_t { kGpu, kGpuHost, kGpuHostNvme };
std::string_view name_of(TierSet tiers);

/// What the article says: the share of block accesses found in GPU memory, and the latency of a step beside the first
/// row's. That is our reading; it does not say.
struct ArticleFigures {
  double hit_rate;
  double factor;
};

/// How near ours must be for "the same".
constexpr double kHitTolerance = 0.03;     ///< absolute
constexpr double kFactorTolerance = 0.10;  ///< relative

struct LongContextRow {
  std::uint32_t context_tokens;
  TierSet tiers;
  bool is_prefetching = false;
  bool is_full = false;  ///< every page is attended to
  std::optional<ArticleFigures> article;
};

struct LongContextResult {
  LongContextRow row;
  SelectionOptions selection;
  DecodeResult decode;
  double factor = 0;  ///< to the pure GPU row of the same options

  [[nodiscard]] bool is_hit_near() const;
  [[nodiscard]] bool is_factor_near() const;
};

/// The article's four rows.
std::vector<LongContextResult> simulate_article(const LongContextOptions& options);
/// Full attention for the same contexts. `pure_gpu`: what factors refer to.
std::vector<LongContextResult> simulate_full(const LongContextOptions& options, const DecodeResult& pure_gpu);
LongContextResult simulate(const LongContextRow& row, const LongContextOptions& options);

}  // namespace kvtier::sim
