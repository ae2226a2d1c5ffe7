#include "tools/kvsim/html_report.h"

#include <algorithm>
#include <cstdio>

#include "tools/kvsim/svg_chart.h"

namespace kvtier::sim {
namespace {

constexpr const char* kStyle =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
    "svg text{font-size:12px;fill:#333}table{border-collapse:collapse;margin:1em 0}"
    "td,th{border:1px solid #ccc;padding:.2em .7em;text-align:right}th:first-child{text-align:left}"
    "code{background:#f3f3f3;padding:.1em .3em}";

std::string number(double value, const char* format) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

const ReplayResult* find(const Report& report, double percent, const std::string& name) {
  for (const ReportCell& cell : report.cells) {
    if (cell.capacity_percent == percent && line_name(cell.result) == name) return &cell.result;
  }
  return nullptr;
}

std::vector<std::string> names_of(const Report& report) {
  std::vector<std::string> names;
  for (const ReportCell& cell : report.cells) {
    if (std::ranges::find(names, line_name(cell.result)) == names.end())
      names.push_back(line_name(cell.result));
  }
  return names;
}

std::vector<double> percents_of(const Report& report) {
  std::vector<double> percents;
  for (const ReportCell& cell : report.cells) {
    if (std::ranges::find(percents, cell.capacity_percent) == percents.end())
      percents.push_back(cell.capacity_percent);
  }
  return percents;
}

Chart hit_chart(const Report& report) {
  Chart chart{.title = "Prefix hits by capacity",
              .x_label = "capacity, % of the different blocks",
              .y_label = "hits / references",
              .lines = {}};
  for (const std::string& name : names_of(report)) {
    ChartLine line{.name = name, .points = {}, .is_dashed = name == "min"};
    for (const double percent : percents_of(report)) {
      if (const ReplayResult* result = find(report, percent, name))
        line.points.emplace_back(percent, result->hit_ratio());
    }
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

// A row a policy, a column a capacity.
template <class Cell>
std::string table(const Report& report, const Cell& cell) {
  std::string html = "<table><tr><th>policy</th>";
  for (const double percent : percents_of(report)) html += "<th>" + number(percent, "%g") + " %</th>";
  html += "</tr>\n";
  for (const std::string& name : names_of(report)) {
    html += "<tr><th>" + escape_html(name) + "</th>";
    for (const double percent : percents_of(report)) html += "<td>" + cell(percent, name) + "</td>";
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string hit_table(const Report& report) {
  return table(report, [&](double percent, const std::string& name) {
    const ReplayResult* result = find(report, percent, name);
    return result == nullptr ? std::string() : number(result->hit_ratio(), "%.4f");
  });
}

std::string gap_table(const Report& report) {
  return table(report, [&](double percent, const std::string& name) {
    const std::optional<double> share = gap_closed(report, percent, name);
    return share ? number(*share * 100, "%.1f %%") : std::string();
  });
}

std::string facts(const Report& report) {
  const std::uint64_t references = report.cells.empty() ? 0 : report.cells.front().result.references;
  return "<p><b>" + escape_html(report.trace) + "</b>: " + std::to_string(report.requests) + " requests, " +
         std::to_string(references) + " references to " + std::to_string(report.unique_blocks) +
         " different blocks. A reference is a hit when its block and all earlier ones of its request were "
         "there. Made by "
         "<code>" +
         escape_html(report.command) + "</code>.</p>\n";
}

}  // namespace

std::string line_name(const ReplayResult& result) {
  return result.is_with_hints ? result.policy + " with hints" : result.policy;
}

std::optional<double> gap_closed(const Report& report, double percent, const std::string& name) {
  const ReplayResult* lru = find(report, percent, "lru");
  const ReplayResult* min = find(report, percent, "min");
  const ReplayResult* own = find(report, percent, name);
  if (lru == nullptr || min == nullptr || own == nullptr || min->hits == lru->hits) return std::nullopt;
  const auto hits = [](const ReplayResult* result) { return static_cast<double>(result->hits); };
  return (hits(own) - hits(lru)) / (hits(min) - hits(lru));
}

std::string to_html(const Report& report) {
  std::string html = "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><title>kvsim: " +
                     escape_html(report.trace) + "</title><style>" + kStyle + "</style></head><body>\n";
  html += "<h1>Prefix hits by policy</h1>\n" + facts(report) + to_svg(hit_chart(report));
  html += "<h2>Hit ratio</h2>\n" + hit_table(report);
  html +=
      "<h2>Share of the gap closed</h2>\n<p>(policy - LRU) / (MIN - LRU): MIN knows the future, so nobody "
      "reaches 100 %.</p>\n" +
      gap_table(report);
  return html + "</body></html>\n";
}

}  // namespace kvtier::sim
