#include "daemon/config/setting_value.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/config/config_fixture.h"

namespace kvtier {
namespace {

using Number = std::optional<std::uint64_t>;
constexpr std::uint64_t kGi = 1ULL << 30;
constexpr std::uint64_t kMost = ~std::uint64_t{0};

SettingInfo info_of(SettingType type) {
  return {"x", type, "", 0, kMost, "", Reload::kLive, "", ""};
}

Number parsed(SettingType type, std::string_view text) {
  const Result<SettingValue> value = parse_setting(info_of(type), {text, false});
  if (value.is_ok()) return value.value().number;
  return std::nullopt;
}

struct Row {
  const char* text;
  Number size;
  Number count;
  Number boolean;
};

constexpr Number kNo = std::nullopt;

// Report U-05: what each spelling means in a size, a count and a boolean field.
constexpr Row kRows[] = {
    {"-1", kNo, kNo, kNo},
    {"+1", kNo, kNo, kNo},
    {"0", 0, 0, kNo},
    {"1", kNo, 1, kNo},
    {"08", kNo, kNo, kNo},
    {"010", kNo, kNo, kNo},
    {"0x10", kNo, kNo, kNo},
    {"0o10", kNo, kNo, kNo},
    {"1e3", kNo, kNo, kNo},
    {"1_000", kNo, kNo, kNo},
    {"1,000", kNo, kNo, kNo},
    {"1.5", kNo, kNo, kNo},
    {"5GiB", 5 * kGi, kNo, kNo},
    {"5 GiB", 5 * kGi, kNo, kNo},
    {"5GB", 5'000'000'000, kNo, kNo},
    {"1.5 GiB", 3 * kGi / 2, kNo, kNo},
    {"5gib", kNo, kNo, kNo},
    {"5G", kNo, kNo, kNo},
    {"5  GiB", kNo, kNo, kNo},
    {"GiB", kNo, kNo, kNo},
    {"yes", kNo, kNo, kNo},
    {"no", kNo, kNo, kNo},
    {"on", kNo, kNo, kNo},
    {"True", kNo, kNo, kNo},
    {"true", kNo, kNo, 1},
    {"false", kNo, kNo, 0},
    {"~", kNo, kNo, kNo},
    {"null", kNo, kNo, kNo},
    {"", kNo, kNo, kNo},
    {" 1", kNo, kNo, kNo},
    {"9223372036854775808", kNo, 1ULL << 63, kNo},
    {"9223372036854775808 B", 1ULL << 63, kNo, kNo},
    {"18446744073709551615", kNo, kMost, kNo},
    {"18446744073709551616", kNo, kNo, kNo},
    {"18446744073709551616 B", kNo, kNo, kNo},
    {"16777216 TiB", kNo, kNo, kNo},
    {".inf", kNo, kNo, kNo},
};

TEST(SettingValue, U05TableOfSpellings) {
  for (const Row& row : kRows) {
    EXPECT_EQ(parsed(SettingType::kSize, row.text), row.size) << row.text;
    EXPECT_EQ(parsed(SettingType::kCount, row.text), row.count) << row.text;
    EXPECT_EQ(parsed(SettingType::kBool, row.text), row.boolean) << row.text;
  }
}

// The same spellings through YAML, where ~, null and empty are not texts.
TEST(SettingValue, U05TableThroughTheFile) {
  for (const Row& row : kRows) {
    const std::string text = row.text;
    const bool in_range = row.count.has_value() && *row.count <= 64;
    EXPECT_EQ(load_text("host:\n  low_water_blocks: " + text + "\n").is_ok(), in_range || text == " 1")
        << text;
    EXPECT_EQ(load_text("log:\n  json: " + text + "\n").is_ok(), row.boolean.has_value()) << text;
    EXPECT_EQ(load_text("host:\n  headroom: " + text + "\n").is_ok(),
              row.size.has_value() && *row.size < (1ULL << 46))
        << text;
  }
}

TEST(SettingValue, QuotedNumbersAreTexts) {
  EXPECT_TRUE(has(errors_of("host:\n  low_water_blocks: \"8\"\n"),
                  "t.yaml:2: host.low_water_blocks: \"8\" is a text"));
  EXPECT_TRUE(has(errors_of("log:\n  json: 'true'\n"), "without quotes"));
  EXPECT_TRUE(load_text("host:\n  bytes: \"5 GiB\"\n").is_ok());
}

TEST(SettingValue, PercentNeedsItsSign) {
  EXPECT_EQ(parsed(SettingType::kPercent, "25%"), 25);
  for (const char* text : {"25", "0.25", "25 %", "%", "-5%", "025%", ""})
    EXPECT_EQ(parsed(SettingType::kPercent, text), std::nullopt) << text;
}

TEST(SettingValue, ChoiceNamesTheNearest) {
  const std::string errors = errors_of("host:\n  huge_pages: requier\n");
  EXPECT_TRUE(has(errors, "t.yaml:2: host.huge_pages: \"requier\" is not a choice"));
  EXPECT_TRUE(has(errors, "one of off, try, require (did you mean require?)"));
}

TEST(SettingValue, RangeSaysBothEnds) {
  EXPECT_TRUE(has(errors_of("host:\n  low_water_blocks: 65\n"), "a whole number from 0 to 64"));
  EXPECT_TRUE(has(errors_of("host:\n  bytes: 1 MiB\n"), "a size from 16 MiB to 64 TiB"));
}

TEST(SettingValue, PathsAndNames) {
  EXPECT_TRUE(has(errors_of("socket: run/x.sock\n"), "is not an absolute path; begin it with /"));
  EXPECT_TRUE(has(errors_of("socket: /" + std::string(107, 'x') + "\n"), "has 108 characters"));
  EXPECT_TRUE(has(errors_of("instance: Über\n"), "is not a name"));
  EXPECT_TRUE(has(errors_of("instance: ../x\n"), "is not a name"));
  EXPECT_TRUE(has(errors_of("instance: \"\"\n"), "is empty"));
  EXPECT_EQ(errors_of("socket_group: \"\"\n"), "");
}

}  // namespace
}  // namespace kvtier
