#pragma once
// A chart of lines as SVG text, for a page that needs nothing else: x on a logarithmic scale, y from 0 to 1.

#include <string>
#include <utility>
#include <vector>

namespace kvtier::sim {

struct ChartLine {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< x above 0, ascending; y between 0 and 1
  bool is_dashed = false;                         ///< a bound, not one of those compared
};

struct Chart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<ChartLine> lines;
};

/// Names are escaped. Each point says its values when the pointer is on it.
std::string to_svg(const Chart& chart);

/// For text and attributes of HTML.
std::string escape_html(std::string_view text);

}  // namespace kvtier::sim
