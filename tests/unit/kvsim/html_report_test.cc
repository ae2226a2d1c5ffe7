// The report: its figures, and that it is one file that says what it was given.

#include "tools/kvsim/html_report.h"

#include <gtest/gtest.h>

#include "tools/kvsim/svg_chart.h"

namespace kvtier::sim {
namespace {

ReportCell cell(double percent, const std::string& policy, std::uint64_t hits, bool is_with_hints = false) {
  return {percent, {.policy = policy, .references = 100, .hits = hits, .is_with_hints = is_with_hints}};
}

Report report() {
  return {.trace = "a<b>.jsonl",
          .command = "kvsim report 'a<b>.jsonl'",
          .requests = 3,
          .unique_blocks = 40,
          .cells = {cell(1, "lru", 20), cell(1, "default", 30), cell(1, "default", 45, true),
                    cell(1, "min", 60), cell(5, "lru", 70), cell(5, "default", 65), cell(5, "min", 70)}};
}

TEST(HtmlReport, TheShareOfTheGapIsOfWhatMinHasBeyondLru) {
  EXPECT_DOUBLE_EQ(gap_closed(report(), 1, "default").value(), 0.25);
  EXPECT_DOUBLE_EQ(gap_closed(report(), 1, "default with hints").value(), 0.625);
  EXPECT_DOUBLE_EQ(gap_closed(report(), 1, "lru").value(), 0);
  EXPECT_DOUBLE_EQ(gap_closed(report(), 1, "min").value(), 1);
  EXPECT_FALSE(gap_closed(report(), 5, "default").has_value()) << "there is no gap";
  EXPECT_FALSE(gap_closed(report(), 5, "default with hints").has_value()) << "it was not replayed";
}

TEST(HtmlReport, HasEveryFigureAndFetchesNothing) {
  const std::string html = to_html(report());
  for (const char* part : {"0.2000", "0.4500", "62.5 %", "default with hints", "a&lt;b&gt;.jsonl",
                           "40 different blocks", "<svg", "default: 0.3000 at 1", "min: 0.7000 at 5"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
  for (const char* part : {"a<b>", "http", "src=", "<script", "nan", "inf"})
    EXPECT_EQ(html.find(part), std::string::npos) << part;
}

TEST(SvgChart, OneCapacityAloneHasAPlace) {
  const std::string svg = to_svg({"t", "x", "y", {{"a", {{10, 0.5}}, false}}});
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_NE(svg.find("cx='345.0'"), std::string::npos) << svg;
}

TEST(SvgChart, PlacesFollowTheLogarithm) {
  const std::string svg = to_svg({"t", "x", "y", {{"a", {{1, 0}, {10, 0.5}, {100, 1}}, true}}});
  EXPECT_NE(svg.find("points='60.0,370.0 345.0,205.0 630.0,40.0 '"), std::string::npos) << svg;
  EXPECT_NE(svg.find("stroke-dasharray"), std::string::npos);
}

}  // namespace
}  // namespace kvtier::sim
