#include <thread>

#include "libkvclient/base/prng.h"
#include "tools/kvbench/lookup.h"
#include "tools/kvbench/support/statistics.h"

namespace kvtier::bench {
namespace {

constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kGroup = 16;

std::uint64_t read_lines(const std::byte* memory, std::span<const std::uint64_t> lines) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < lines.size(); at += kGroup) {
    const std::span<const std::uint64_t> group = lines.subspan(at, std::min(kGroup, lines.size() - at));
    for (const std::uint64_t line : group) __builtin_prefetch(memory + line * kLineBytes);
    for (const std::uint64_t line : group) sum += static_cast<std::uint64_t>(memory[line * kLineBytes]);
  }
  return sum;
}

std::vector<double> read_for(const std::byte* memory, std::uint64_t lines_count, std::size_t keys,
                             TimeNs duration_ns, std::uint64_t seed) {
  Prng chance(seed);
  std::vector<std::uint64_t> lines(keys);
  std::vector<double> samples;
  const TimeNs end = now_ns() + duration_ns;
  while (now_ns() < end) {
    for (std::uint64_t& line : lines) line = chance.below(lines_count);
    const TimeNs start = now_ns();
    keep(read_lines(memory, lines));
    samples.push_back(static_cast<double>(now_ns() - start) / static_cast<double>(keys));
  }
  return samples;
}

}  // namespace

LookupReference::LookupReference(const LookupOptions& options)
    : options_(options), lines_count_(options.resident), memory_(options.resident * kLineBytes) {}

double LookupReference::line_ns(TimeNs duration_ns) {
  std::vector<std::vector<double>> samples(options_.threads);
  std::vector<std::thread> running;
  for (unsigned i = 0; i < options_.threads; ++i) {
    running.emplace_back(
        [&, i] { samples[i] = read_for(memory_.data(), lines_count_, options_.keys, duration_ns, 7 + i); });
  }
  for (std::thread& thread : running) thread.join();
  std::vector<double> all;
  for (const auto& part : samples) all.insert(all.end(), part.begin(), part.end());
  return median(all);
}

}  // namespace kvtier::bench
