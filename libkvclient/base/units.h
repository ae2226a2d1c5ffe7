#pragma once
// Sizes and durations as people write them. GiB is 2^30, GB is 10^9; a bare number is refused where a unit is
// due.

#include <cstdint>
#include <string>
#include <string_view>

#include "libkvclient/base/clock.h"
#include "libkvclient/base/result.h"

namespace kvtier {

inline constexpr std::uint64_t kKiB = 1ULL << 10;
inline constexpr std::uint64_t kMiB = 1ULL << 20;
inline constexpr std::uint64_t kGiB = 1ULL << 30;
inline constexpr std::uint64_t kPageBytes = 4096;

/// "5GiB", "5 GiB", "1.5 GB", "4096 B", "0". Exact integer arithmetic; kInvalid names what is wrong.
Result<std::uint64_t> parse_size(std::string_view text);

/// "250us", "10 ms", "5s", "2min", "1h". kInvalid names what is wrong.
Result<TimeNs> parse_duration(std::string_view text);

/// Shortest exact-enough form for people: "1.50 GiB", "812 B".
std::string format_size(std::uint64_t bytes);
std::string format_duration(TimeNs ns);

/// Rounds up to a multiple of `unit`, a power of two.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) & ~(unit - 1);
}

}  // namespace kvtier
