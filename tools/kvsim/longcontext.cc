#include "tools/kvsim/longcontext.h"

#include <cmath>

namespace kvtier::sim {
namespace {

constexpr std::uint32_t k32Ki = 32 << 10;
constexpr std::uint32_t k128Ki = 128 << 10;
constexpr std::uint32_t k1Mi = 1 << 20;

// Nothing but the figures on the right is the article's.
constexpr LongContextRow kArticleRows[] = {
    {.context_tokens = k32Ki, .tiers = TierSet::kGpu, .article = ArticleFigures{1.00, 1.0}},
    {.context_tokens = k128Ki, .tiers = TierSet::kGpuHost, .article = ArticleFigures{0.85, 1.3}},
    {.context_tokens = k1Mi, .tiers = TierSet::kGpuHostNvme, .article = ArticleFigures{0.60, 2.1}},
    {.context_tokens = k1Mi,
     .tiers = TierSet::kGpuHostNvme,
     .is_prefetching = true,
     .article = ArticleFigures{0.80, 1.5}},
};

constexpr LongContextRow kFullRows[] = {
    {.context_tokens = k32Ki, .tiers = TierSet::kGpu, .is_full = true},
    {.context_tokens = k128Ki, .tiers = TierSet::kGpuHost, .is_full = true},
    {.context_tokens = k1Mi, .tiers = TierSet::kGpuHostNvme, .is_full = true},
};

std::uint64_t bytes_of(double gib) {
  return static_cast<std::uint64_t>(std::llround(gib * 1073741824.0));
}

// Every step of full attention is the same once the memory is full: few of them do.
void make_full(DecodeOptions& options) {
  options.selection.budget_tokens = options.context_tokens;
  options.warmup_steps = 2;
  options.steps = 4;
}

}  // namespace

std::string_view name_of(TierSet tiers) {
  switch (tiers) {
    case TierSet::kGpu:
      return "gpu";
    case TierSet::kGpuHost:
      return "gpu+host";
    case TierSet::kGpuHostNvme:
      break;
  }
  return "gpu+host+nvme";
}

bool LongContextResult::is_hit_near() const {
  return row.article && std::abs(decode.hit_rate() - row.article->hit_rate) <= kHitTolerance;
}

bool LongContextResult::is_factor_near() const {
  return row.article && std::abs(factor / row.article->factor - 1) <= kFactorTolerance;
}

LongContextResult simulate(const LongContextRow& row, const LongContextOptions& options) {
  DecodeOptions decode = options.decode;
  decode.context_tokens = row.context_tokens;
  decode.is_prefetching = row.is_prefetching;
  if (row.tiers != TierSet::kGpu) decode.gpu_bytes = bytes_of(options.gpu_gib);
  if (row.tiers == TierSet::kGpuHostNvme) decode.host_bytes = bytes_of(options.host_gib);
  if (row.is_full) make_full(decode);
  return {.row = row, .selection = decode.selection, .decode = Decode(decode).run()};
}

std::vector<LongContextResult> simulate_article(const LongContextOptions& options) {
  std::vector<LongContextResult> results;
  for (const LongContextRow& row : kArticleRows) {
    results.push_back(simulate(row, options));
    results.back().factor = results.back().decode.step_ms() / results.front().decode.step_ms();
  }
  return results;
}

std::vector<LongContextResult> simulate_full(const LongContextOptions& options,
                                             const DecodeResult& pure_gpu) {
  std::vector<LongContextResult> results;
  for (const LongContextRow& row : kFullRows) {
    results.push_back(simulate(row, options));
    results.back().factor = results.back().decode.step_ms() / pure_gpu.step_ms();
  }
  return results;
}

}  // namespace kvtier::sim
