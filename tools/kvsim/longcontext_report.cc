#include "tools/kvsim/longcontext_report.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace kvtier::sim {
namespace {

std::string text_of(const char* format, auto... values) {
  char text[512];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

double a_step(std::uint64_t count, const DecodeResult& result) {
  return static_cast<double>(count) / result.steps;
}

double megabytes_a_step(std::uint64_t bytes, const DecodeResult& result) {
  return a_step(bytes, result) / 1e6;
}

std::string name_of(const LongContextRow& row) {
  std::string name = row.is_full ? "full attention, " : "";
  name += name_of(row.tiers);
  if (row.is_prefetching) name += " + prefetch";
  return name;
}

void add_article(nlohmann::ordered_json& object, const LongContextResult& result) {
  if (!result.row.article) return;
  object["article_hit_rate"] = result.row.article->hit_rate;
  object["article_factor"] = result.row.article->factor;
  object["is_hit_near"] = result.is_hit_near();
  object["is_factor_near"] = result.is_factor_near();
}

void add_traffic(nlohmann::ordered_json& object, const DecodeResult& result) {
  const DecodeCounts& counts = result.counts;
  object["pcie_bytes_per_step"] = a_step(counts.pcie_bytes, result);
  object["nvme_bytes_per_step"] = a_step(counts.nvme_bytes, result);
  object["prefetched_per_step"] = a_step(counts.prefetched, result);
  object["prefetch_used_per_step"] = a_step(counts.used, result);
  object["prefetch_late_per_step"] = a_step(counts.late, result);
  object["prefetch_wasted_per_step"] = a_step(counts.wasted, result);
  object["prefetch_cancelled_per_step"] = a_step(counts.cancelled, result);
}

void print(const LongContextOptions& options, const std::vector<LongContextResult>& results) {
  for (const LongContextResult& result : results)
    std::printf("%s\n", (options.is_json ? to_json(result, options) : table_line(result)).c_str());
}

void run_popularity(const LongContextOptions& options) {
  const auto article = simulate_article(options);
  print(options, article);
  if (options.is_sweep || options.decode.selection.popularity != options.popularities.back()) return;
  print(options, simulate_full(options, article.front().decode));
}

void run_sweep(LongContextOptions options) {
  for (const std::uint32_t budget : options.sweep_budgets) {
    for (const double locality : options.sweep_localities) {
      options.decode.selection.budget_tokens = budget;
      options.decode.selection.locality = locality;
      run_popularity(options);
    }
  }
}

}  // namespace

std::string to_json(const LongContextResult& result, const LongContextOptions& options) {
  const DecodeResult& decode = result.decode;
  const DecodeCounts& counts = decode.counts;
  nlohmann::ordered_json object = {{"row", name_of(result.row)},
                                   {"context_tokens", result.row.context_tokens},
                                   {"tiers", name_of(result.row.tiers)},
                                   {"is_prefetching", result.row.is_prefetching},
                                   {"is_full", result.row.is_full},
                                   {"budget_tokens", result.selection.budget_tokens},
                                   {"locality", result.selection.locality},
                                   {"popularity", result.selection.popularity},
                                   {"prediction", options.decode.prediction},
                                   {"batch", options.decode.batch},
                                   {"attended_share", decode.attended_share},
                                   {"hit_rate", decode.hit_rate()},
                                   {"late_rate", decode.share(counts.late)},
                                   {"host_rate", decode.share(counts.host_reads)},
                                   {"nvme_rate", decode.share(counts.nvme_reads)},
                                   {"step_ms", decode.step_ms()},
                                   {"waiting_ms", a_step(counts.waiting_ps, decode) / kPsPerMs},
                                   {"factor", result.factor},
                                   {"tokens_per_s", 1000 * options.decode.batch / decode.step_ms()},
                                   {"digest_bytes", decode.digest_bytes}};
  add_traffic(object, decode);
  add_article(object, result);
  return object.dump();
}

std::string assumptions(const LongContextOptions& options) {
  const DecodeOptions& decode = options.decode;
  const SelectionOptions& selection = decode.selection;
  return text_of(
      "32 layers, 8 kv heads of 128, fp16: a page of 16 tokens is 64 KiB a layer. Batch %u, policy %s\n"
      "%u tokens attended to a layer (sinks %u, window %u), %.0f %% of those selected as in the step before; "
      "prefetch names %.0f %% of the others, %u layer(s) ahead\n"
      "GPU %.1f TB/s, %.0f TFLOP/s, room for %.0f GiB of pages; host %.0f GiB; PCIe %.0f GB/s; "
      "NVMe %u x %.0f GB/s",
      decode.batch, std::string(decode.policy->name).c_str(), selection.budget_tokens, selection.sink_tokens,
      selection.window_tokens, 100 * selection.locality, 100 * decode.prediction, decode.prefetch_ahead,
      decode.gpu.memory_bytes_per_s / 1e12, decode.gpu.flops_per_s / 1e12, options.gpu_gib, options.host_gib,
      decode.transfers.pcie.bytes_per_s / 1e9, decode.transfers.nvme_devices,
      decode.transfers.nvme_device.bytes_per_s / 1e9);
}

std::string table_head() {
  return text_of("%-30s %8s %4s %6s %6s %9s %6s %5s %6s %6s %9s %8s %9s %9s %10s  %-13s", "row", "context",
                 "zipf", "budget", "local%", "attended%", "hit%", "late%", "host%", "nvme%", "ms/step",
                 "factor", "PCIe MB", "NVMe MB", "digests MB", "article");
}

std::string table_line(const LongContextResult& result) {
  const DecodeResult& decode = result.decode;
  const DecodeCounts& counts = decode.counts;
  std::string line =
      text_of("%-30s %8u %4.1f %6u %6.0f %9.3f %6.1f %5.1f %6.1f %6.1f %9.2f %7.2fx %9.1f %9.1f %10.0f",
              name_of(result.row).c_str(), result.row.context_tokens, result.selection.popularity,
              result.selection.budget_tokens, 100 * result.selection.locality, 100 * decode.attended_share,
              100 * decode.hit_rate(), 100 * decode.share(counts.late), 100 * decode.share(counts.host_reads),
              100 * decode.share(counts.nvme_reads), decode.step_ms(), result.factor,
              megabytes_a_step(counts.pcie_bytes, decode), megabytes_a_step(counts.nvme_bytes, decode),
              static_cast<double>(decode.digest_bytes) / 1e6);
  if (!result.row.article) return line;
  return line + text_of("  %3.0f%%%c %.1fx%c", 100 * result.row.article->hit_rate,
                        result.is_hit_near() ? '=' : ' ', result.row.article->factor,
                        result.is_factor_near() ? '=' : ' ');
}

bool run_long_context(const LongContextOptions& asked) {
  LongContextOptions options = asked;
  if (!options.is_json) std::printf("%s\n\n%s\n", assumptions(options).c_str(), table_head().c_str());
  for (const double popularity : options.popularities) {
    options.decode.selection.popularity = popularity;
    options.is_sweep ? run_sweep(options) : run_popularity(options);
  }
  return std::fflush(stdout) == 0;
}

}  // namespace kvtier::sim
