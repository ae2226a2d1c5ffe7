#include "libkvclient/base/units.h"

#include <array>
#include <cctype>
#include <cstdio>

namespace kvtier {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array<Unit, 9> kSizeUnits = {{{"B", 1},
                                             {"KiB", kKiB},
                                             {"MiB", kMiB},
                                             {"GiB", kGiB},
                                             {"TiB", 1ULL << 40},
                                             {"kB", 1'000},
                                             {"MB", 1'000'000},
                                             {"GB", 1'000'000'000},
                                             {"TB", 1'000'000'000'000}}};

constexpr std::array<Unit, 6> kTimeUnits = {{{"ns", 1},
                                             {"us", kNsPerUs},
                                             {"ms", kNsPerMs},
                                             {"s", kNsPerSecond},
                                             {"min", 60 * kNsPerSecond},
                                             {"h", 3600 * kNsPerSecond}}};

// A decimal number as digits and the power of ten to divide by: no rounding through double.
struct Decimal {
  std::uint64_t digits = 0;
  std::uint64_t divisor = 1;
  std::size_t length = 0;
};

Status bad(std::string_view text, std::string_view why) {
  return {Code::kInvalid, "\"" + std::string(text) + "\": " + std::string(why)};
}

Result<Decimal> parse_decimal(std::string_view text) {
  Decimal number;
  bool after_point = false;
  for (const char c : text) {
    if (c == '.' && !after_point && number.length > 0) {
      after_point = true;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      const auto digit = static_cast<std::uint64_t>(c - '0');
      if (__builtin_mul_overflow(number.digits, 10ULL, &number.digits) ||
          __builtin_add_overflow(number.digits, digit, &number.digits)) {
        return bad(text, "the number is too large");
      }
      if (after_point) number.divisor *= 10;
      if (number.divisor > 1'000'000) return bad(text, "at most six digits after the point");
    } else {
      break;
    }
    ++number.length;
  }
  if (number.length == 0) return bad(text, "must begin with a digit");
  if (text[number.length - 1] == '.') return bad(text, "digits must follow the point");
  if (number.length > 1 && text[0] == '0' && text[1] != '.')
    return bad(text, "leading zeros are not allowed");
  return number;
}

template <std::size_t N>
Result<std::uint64_t> parse_with(std::string_view text, const std::array<Unit, N>& units,
                                 std::string_view expected) {
  Result<Decimal> number = parse_decimal(text);
  if (!number.is_ok()) return number.status();
  std::string_view rest = text.substr(number.value().length);
  if (rest.empty() && number.value().digits == 0) return std::uint64_t{0};
  if (!rest.empty() && rest[0] == ' ') rest.remove_prefix(1);
  for (const Unit& unit : units) {
    if (rest != unit.name) continue;
    // 128 bits: digits after the point are divided away again.
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(number.value().digits) * unit.factor;
    if (product % number.value().divisor != 0) return bad(text, "is not a whole number of the smallest unit");
    const Wide whole = product / number.value().divisor;
    if (whole > ~std::uint64_t{0}) return bad(text, "does not fit 64 bits");
    return static_cast<std::uint64_t>(whole);
  }
  return bad(text, expected);
}

std::string print(double value, std::string_view unit) {
  std::array<char, 48> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.2f %.*s", value, static_cast<int>(unit.size()), unit.data());
  return buffer.data();
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  return parse_with(
      text, kSizeUnits,
      "needs a unit: B, KiB, MiB, GiB, TiB (powers of 1024) or kB, MB, GB, TB (powers of 1000)");
}

Result<TimeNs> parse_duration(std::string_view text) {
  return parse_with(text, kTimeUnits, "needs a unit: ns, us, ms, s, min, h");
}

std::string format_size(std::uint64_t bytes) {
  constexpr std::array<Unit, 4> kSteps = {{{"TiB", 1ULL << 40}, {"GiB", kGiB}, {"MiB", kMiB}, {"KiB", kKiB}}};
  for (const Unit& step : kSteps) {
    if (bytes < step.factor) continue;
    if (bytes % step.factor == 0) return std::to_string(bytes / step.factor) + " " + std::string(step.name);
    return print(static_cast<double>(bytes) / static_cast<double>(step.factor), step.name);
  }
  return std::to_string(bytes) + " B";
}

std::string format_duration(TimeNs ns) {
  constexpr std::array<Unit, 5> kSteps = {{{"h", 3600 * kNsPerSecond},
                                           {"min", 60 * kNsPerSecond},
                                           {"s", kNsPerSecond},
                                           {"ms", kNsPerMs},
                                           {"us", kNsPerUs}}};
  for (const Unit& step : kSteps) {
    if (ns < step.factor) continue;
    if (ns % step.factor == 0) return std::to_string(ns / step.factor) + " " + std::string(step.name);
    return print(static_cast<double>(ns) / static_cast<double>(step.factor), step.name);
  }
  return std::to_string(ns) + " ns";
}

}  // namespace kvtier
