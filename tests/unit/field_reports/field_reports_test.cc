// tests/FIELD_REPORTS.md says what is true: each file is there, and has the test that is named after it.

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

namespace kvtier {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(KVTIER_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The words behind a file's name, up to the next sign: names of tests, or a remark.
std::vector<std::string> names_in(const std::string& words) {
  static const std::regex kName("[A-Za-z0-9_]{8,}");
  std::vector<std::string> names;
  for (std::sregex_iterator it(words.begin(), words.end(), kName), end; it != end; ++it)
    names.push_back(it->str());
  return names;
}

TEST(FieldReports, EveryNamedTestIsThere) {
  static const std::regex kEntry("`(tests/[^`]+)`([^`|;:]*)");
  const std::string table = text_of("tests/FIELD_REPORTS.md");
  std::size_t checked = 0;
  for (std::sregex_iterator it(table.begin(), table.end(), kEntry), end; it != end; ++it) {
    const std::string source = text_of((*it)[1]);
    EXPECT_FALSE(source.empty()) << (*it)[1];
    for (const std::string& name : names_in((*it)[2])) {
      EXPECT_NE(source.find(name), std::string::npos) << (*it)[1] << " has no " << name;
      ++checked;
    }
  }
  EXPECT_GT(checked, 80U) << "the table was read";
}

TEST(FieldReports, EveryReportHasATestOrALaterIssue) {
  static const std::regex kRow("\\| ([A-Z]-[0-9]{2}) \\| [^|]+ \\| ([^|\n]+) \\|");
  static const std::regex kLater("[B-H](, [B-H])*([ ;].*)?");
  const std::string table = text_of("tests/FIELD_REPORTS.md");
  std::size_t rows = 0;
  for (std::sregex_iterator it(table.begin(), table.end(), kRow), end; it != end; ++it, ++rows) {
    const std::string reason = (*it)[2];
    const bool has_test = reason.find("`tests/") != std::string::npos;
    EXPECT_TRUE(has_test || std::regex_match(reason, kLater)) << (*it)[1] << ": " << reason;
  }
  EXPECT_EQ(rows, 69U) << "all of groups C, L, R, D, S, U, P, F";
}

}  // namespace
}  // namespace kvtier
