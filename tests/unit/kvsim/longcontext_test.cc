// The rows: what they are beside each other, and what is said of them.

#include "tools/kvsim/longcontext.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/kvsim/longcontext_report.h"

namespace kvtier::sim {
namespace {

LongContextOptions short_run() {
  LongContextOptions options;
  options.decode.shape.layers = 2;
  options.decode.warmup_steps = 20;
  options.decode.steps = 10;
  options.gpu_gib = 4.0 / 16;  // as many layers less
  options.host_gib = 16.0 / 16;
  return options;
}

TEST(LongContext, TheArticlesRowsInItsOrder) {
  const auto results = simulate_article(short_run());
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(results[0].row.context_tokens, 32768U);
  EXPECT_EQ(results[1].row.context_tokens, 131072U);
  EXPECT_EQ(results[2].row.context_tokens, 1048576U);
  EXPECT_TRUE(results[3].row.is_prefetching);
  EXPECT_EQ(results[0].decode.hit_rate(), 1);
  EXPECT_EQ(results[0].factor, 1);
  EXPECT_EQ(results[1].decode.counts.nvme_bytes, 0U);
  EXPECT_GT(results[2].decode.counts.nvme_bytes, 0U);
  EXPECT_LT(results[3].factor, results[2].factor);
}

TEST(LongContext, TheArticlesFiguresAreNoPartOfTheSimulation) {
  LongContextRow row = {
      .context_tokens = 131072, .tiers = TierSet::kGpuHost, .article = ArticleFigures{0.1, 9}};
  const LongContextResult one = simulate(row, short_run());
  row.article.reset();
  const LongContextResult other = simulate(row, short_run());
  EXPECT_EQ(one.decode.counts.time_ps, other.decode.counts.time_ps);
  EXPECT_EQ(one.decode.counts.gpu_hits, other.decode.counts.gpu_hits);
}

TEST(LongContext, NearIsThreePointsAndATenth) {
  LongContextResult result{
      .row = {.context_tokens = 0, .tiers = TierSet::kGpu, .article = ArticleFigures{0.6, 2}},
      .selection = {},
      .decode = {.counts = {.accesses = 100, .gpu_hits = 62}, .steps = 1},
      .factor = 2.19};
  EXPECT_TRUE(result.is_hit_near());
  EXPECT_TRUE(result.is_factor_near());
  result.factor = 2.21;
  result.decode.counts.gpu_hits = 64;
  EXPECT_FALSE(result.is_hit_near());
  EXPECT_FALSE(result.is_factor_near());
}

TEST(LongContext, FullAttentionReadsEverything) {
  const LongContextOptions options = short_run();
  const auto article = simulate_article(options);
  const auto full = simulate_full(options, article[0].decode);
  ASSERT_EQ(full.size(), 3U);
  for (const LongContextResult& result : full) EXPECT_EQ(result.decode.attended_share, 1);
  EXPECT_EQ(full[0].decode.hit_rate(), 1);
  EXPECT_EQ(full[1].decode.counts.pcie_bytes, 4U * 131072 * token_bytes(options.decode.shape));
  EXPECT_EQ(full[2].decode.counts.nvme_bytes, 4U * 1048576 * token_bytes(options.decode.shape));
}

TEST(LongContext, JsonHasTheKeysThatOthersRead) {
  const LongContextOptions options = short_run();
  const auto object = nlohmann::json::parse(to_json(simulate_article(options)[1], options));
  for (const char* key : {"row",
                          "context_tokens",
                          "tiers",
                          "is_prefetching",
                          "budget_tokens",
                          "locality",
                          "popularity",
                          "attended_share",
                          "hit_rate",
                          "late_rate",
                          "host_rate",
                          "nvme_rate",
                          "step_ms",
                          "factor",
                          "pcie_bytes_per_step",
                          "nvme_bytes_per_step",
                          "prefetch_used_per_step",
                          "prefetch_wasted_per_step",
                          "digest_bytes",
                          "article_hit_rate",
                          "article_factor"}) {
    EXPECT_TRUE(object.contains(key)) << key;
  }
  EXPECT_EQ(object["tiers"], "gpu+host");
  EXPECT_EQ(object["attended_share"], 256.0 / 8192);
}

}  // namespace
}  // namespace kvtier::sim
