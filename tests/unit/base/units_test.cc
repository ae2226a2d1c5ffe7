#include "libkvclient/base/units.h"

#include <gtest/gtest.h>

#include <optional>

namespace kvtier {
namespace {

using Number = std::optional<std::uint64_t>;
constexpr std::uint64_t kMost = ~std::uint64_t{0};

Number size_of(std::string_view text) {
  const Result<std::uint64_t> size = parse_size(text);
  return size.is_ok() ? Number(size.value()) : std::nullopt;
}
Number duration_of(std::string_view text) {
  const Result<TimeNs> duration = parse_duration(text);
  return duration.is_ok() ? Number(duration.value()) : std::nullopt;
}

struct Row {
  const char* text;
  Number value;
};

// Report U-01: GiB and GB differ, and 5 GiB is 5 GiB.
TEST(Units, U01Sizes) {
  constexpr Row kRows[] = {{"0", 0},
                           {"0B", 0},
                           {"0 GiB", 0},
                           {"1B", 1},
                           {"4096 B", 4096},
                           {"1KiB", kKiB},
                           {"1kB", 1000},
                           {"5GiB", 5 * kGiB},
                           {"5 GiB", 5 * kGiB},
                           {"5GB", 5'000'000'000},
                           {"2TiB", 2048 * kGiB},
                           {"2TB", 2'000'000'000'000},
                           {"1.5GiB", 3 * kGiB / 2},
                           {"0.5 KiB", 512},
                           {"1.500000 TiB", 1536 * kGiB},
                           {"17.000000 TiB", 17 * 1024 * kGiB},
                           {"18446744073709551615B", kMost},
                           {"16777215 TiB", 16777215ULL << 40}};
  for (const Row& row : kRows) EXPECT_EQ(size_of(row.text), row.value) << row.text;
}

TEST(Units, WrongSizes) {
  for (const char* text : {"",
                           " ",
                           "5",
                           "5 ",
                           "0 ",
                           " 5GiB",
                           "5GiB ",
                           "5  GiB",
                           "5\tGiB",
                           "-1",
                           "-1B",
                           "+1B",
                           "08B",
                           "010B",
                           "00B",
                           "0x10",
                           "0x10B",
                           "1e3B",
                           "1_000B",
                           "1,000B",
                           "5gib",
                           "5GIB",
                           "5Gib",
                           "5G",
                           "5g",
                           "5K",
                           "5KB",
                           "GiB",
                           ".5GiB",
                           "5.GiB",
                           "1.5.5GiB",
                           "0.3B",
                           "1.0000001GiB",
                           "18446744073709551616B",
                           "16777216TiB",
                           "99999999999999999999GiB",
                           "5GiB/s",
                           "nan",
                           "inf",
                           "~",
                           "null",
                           "yes"})
    EXPECT_EQ(size_of(text), std::nullopt) << text;
}

TEST(Units, MessagesSayWhatToWrite) {
  EXPECT_NE(parse_size("5gib").status().message().find("KiB, MiB, GiB, TiB"), std::string::npos);
  EXPECT_NE(parse_size("010B").status().message().find("leading zeros"), std::string::npos);
  EXPECT_NE(parse_duration("5").status().message().find("ns, us, ms, s, min, h"), std::string::npos);
}

TEST(Units, Durations) {
  constexpr Row kRows[] = {{"0", 0},
                           {"1ns", 1},
                           {"250us", 250'000},
                           {"10 ms", 10'000'000},
                           {"1.5s", 1'500'000'000},
                           {"2min", 120 * kNsPerSecond},
                           {"1h", 3600 * kNsPerSecond}};
  for (const Row& row : kRows) EXPECT_EQ(duration_of(row.text), row.value) << row.text;
  for (const char* text : {"", "5", "1m", "1 sec", "1d", "0.5ns", "-1s", "10ms5us", "9999999999999h"})
    EXPECT_EQ(duration_of(text), std::nullopt) << text;
}

TEST(Units, Formats) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(812), "812 B");
  EXPECT_EQ(format_size(4096), "4 KiB");
  EXPECT_EQ(format_size(5 * kGiB), "5 GiB");
  EXPECT_EQ(format_size(3 * kGiB / 2), "1.50 GiB");
  EXPECT_EQ(format_size(kMost), "16777216.00 TiB");
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(1500), "1.50 us");
  EXPECT_EQ(format_duration(90 * kNsPerSecond), "1.50 min");
  EXPECT_EQ(format_duration(3600 * kNsPerSecond), "1 h");
}

TEST(Units, WholeFormatsParseBack) {
  for (const std::uint64_t bytes :
       std::initializer_list<std::uint64_t>{1, 1023, kKiB, 7 * kMiB, 5 * kGiB, 3072 * kGiB})
    EXPECT_EQ(size_of(format_size(bytes)), bytes);
}

TEST(Units, RoundUp) {
  EXPECT_EQ(round_up(0, 4096), 0U);
  EXPECT_EQ(round_up(1, 4096), 4096U);
  EXPECT_EQ(round_up(4096, 4096), 4096U);
  EXPECT_EQ(round_up(4097, 4096), 8192U);
}

}  // namespace
}  // namespace kvtier
