#include "daemon/config/yaml_adapter.h"

#include <gtest/gtest.h>

#include "daemon/config/describe.h"
#include "libkvclient/base/prng.h"
#include "tests/unit/config/config_fixture.h"

namespace kvtier {
namespace {

std::string repeat(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string complaints_of(const std::string& text) {
  std::vector<Complaint> complaints;
  parse_yaml(text, "t.yaml", complaints);
  return to_string(complaints);
}

TEST(YamlAdapter, U05DuplicateKeyNamesBothLinesAtEveryLevel) {
  EXPECT_EQ(complaints_of("a: 1\nb: 2\na: 3\n"),
            "t.yaml:3: \"a\" was given before, on line 1; keep one of the two");
  EXPECT_TRUE(has(complaints_of("a:\n  b:\n    c: 1\n    d: 1\n    c: 2\n"),
                  "t.yaml:5: \"c\" was given before, on line 3"));
  EXPECT_TRUE(has(complaints_of("l:\n  - x: 1\n    x: 2\n"), "t.yaml:3: \"x\" was given before, on line 2"));
  EXPECT_TRUE(has(complaints_of("{a: 1, \"a\": 2}"), "given before"));
}

TEST(YamlAdapter, AnchorsAliasesMergeKeysAndTagsAreRefused) {
  EXPECT_TRUE(has(complaints_of("a: &x 1\n"), "t.yaml:1: has an anchor (&)"));
  EXPECT_TRUE(has(complaints_of("a: &x 1\nb: *x\n"), "t.yaml:2: has an alias (*)"));
  EXPECT_TRUE(has(complaints_of("a: &x {k: 1}\nb:\n  <<: *x\n"), "t.yaml:3: has a merge key (<<)"));
  EXPECT_TRUE(has(complaints_of("a: !!int 3\n"), "t.yaml:1: has a tag (tag:yaml.org,2002:int)"));
  EXPECT_TRUE(has(complaints_of("a: !2\n"), "t.yaml:1: "));
}

TEST(YamlAdapter, KeysAreWords) {
  for (const char* text : {"? [a, b]\n: 1\n", "? {a: 1}\n: 1\n", "~: 1\n", ": 1\n", "'': 1\n"})
    EXPECT_TRUE(has(complaints_of(text), "t.yaml:1: has a key that is not a word")) << text;
}

TEST(YamlAdapter, OneDocumentOnly) {
  EXPECT_TRUE(has(complaints_of("a: 1\n---\nb: 2\n"), "has a second document"));
  EXPECT_EQ(complaints_of("---\na: 1\n...\n"), "");
}

TEST(YamlAdapter, LimitsOnSizeDepthAndCount) {
  EXPECT_TRUE(has(complaints_of(repeat("# line\n", 10'000)), "has 70000 bytes; at most 65536 are read"));
  EXPECT_EQ(complaints_of(repeat("{a: ", 8) + "1" + repeat("}", 8)), "");
  EXPECT_TRUE(has(complaints_of(repeat("{a: ", 9) + "1" + repeat("}", 9)), "is nested deeper than 8 levels"));
  EXPECT_TRUE(has(complaints_of(repeat("[", 60'000)), "is nested deeper than 8 levels"));
  EXPECT_TRUE(has(complaints_of("a: [" + repeat("1,", 5000) + "]"), "has more than 4096 values"));
}

TEST(YamlAdapter, ATabIsCalledATab) {
  EXPECT_TRUE(has(complaints_of("a:\n\tb: 1\n"), "t.yaml:2: is indented by a tab; use spaces"));
  EXPECT_TRUE(has(complaints_of("a:\n  b: 1\n \tc: 2\n"), "is indented by a tab"));
}

TEST(YamlAdapter, DirectivesAreRefused) {
  EXPECT_TRUE(has(complaints_of("%YAML 1.1\n---\na: 1\n"), "t.yaml:1: has a directive (%)"));
  EXPECT_TRUE(has(complaints_of("# c\n%FOO\n---\na: 1\n"), "t.yaml:2: has a directive (%)"));
  EXPECT_EQ(complaints_of("a: 25%\n"), "");
}

TEST(YamlAdapter, OtherEncodingsAndControlBytesAreRefused) {
  EXPECT_TRUE(has(complaints_of(std::string("a: 1\nb: \0 2", 11)), "t.yaml:2: has a control character"));
  EXPECT_TRUE(has(complaints_of(std::string("\xff\xfe"
                                            "a\0:\0",
                                            6)),
                  "is not UTF-8"));
  EXPECT_TRUE(has(complaints_of("a: \x1b[31m\n"), "has a control character"));
}

TEST(YamlAdapter, SyntaxErrorsHaveTheirLine) {
  EXPECT_TRUE(has(complaints_of("a: 1\nb: [1, 2\n"), "is not YAML"));
  EXPECT_TRUE(has(complaints_of("a: 1\n\tb: 2\n"), "t.yaml:2: "));
  EXPECT_TRUE(has(complaints_of("a: b: c\n"), "t.yaml:1: is not YAML"));
}

// Report U-05 (yaml-cpp): malformed documents that made events or tokens without end.
TEST(YamlAdapter, U05MalformedDocumentsEnd) {
  const std::string cases[] = {repeat("? ", 30'000),  repeat("- ", 30'000),    repeat("{", 60'000),
                               repeat("&a ", 20'000), repeat("!", 60'000),     repeat("a: ", 20'000),
                               repeat("*", 60'000),   repeat("\"", 60'001),    repeat("%", 60'000),
                               repeat("|\n", 30'000), repeat("---\n", 16'000), repeat("- - [\n", 9'000),
                               repeat("{? ", 20'000), repeat("[a: ", 15'000)};
  for (const std::string& text : cases) EXPECT_NE(errors_of(text), "") << text.substr(0, 12);
  EXPECT_NE(errors_of("a: {b\n: [}\n- ?"), "");
}

// Seeded damage to the annotated default: every outcome is an error or a configuration, never a hang or a
// crash.
TEST(YamlAdapter, DamagedDocumentsEnd) {
  Prng chance(20240611);
  const std::string original = annotated_default();
  static constexpr std::string_view kBytes = "{}[]&*!|>'\"%@`#,?:-~ \n\t09aZ<=.\\";
  for (int round = 0; round < 300; ++round) {
    std::string text = original;
    const std::uint64_t edits = 1 + chance.below(8);
    for (std::uint64_t i = 0; i < edits; ++i) {
      const std::size_t at = chance.below(text.size());
      const std::uint64_t kind = chance.below(3);
      if (kind == 0) text[at] = kBytes[chance.below(kBytes.size())];
      if (kind == 1) text.erase(at, chance.below(40));
      if (kind == 2) text.insert(at, 1, kBytes[chance.below(kBytes.size())]);
    }
    const ConfigLoad load = load_text(text);
    EXPECT_NE(load.is_ok(), !load.errors.empty());
  }
}

}  // namespace
}  // namespace kvtier
