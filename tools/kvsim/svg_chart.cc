#include "tools/kvsim/svg_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>

namespace kvtier::sim {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 420;
constexpr double kLeft = 60;
constexpr double kRight = 130;  // of the names
constexpr double kTop = 40;
constexpr double kBottom = 50;
constexpr double kRowHeight = 18;

// Told apart also by who does not tell red from green (Okabe and Ito 2008).
constexpr std::array<const char*, 7> kColours = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                                 "#d55e00", "#56b4e9", "#000000"};

template <class... T>
std::string format(const char* text, T... values) {
  char line[512];
  std::snprintf(line, sizeof line, text, values...);
  return line;
}

// From values to places on the page.
class Scale {
 public:
  explicit Scale(const Chart& chart) {
    for (const ChartLine& line : chart.lines) {
      for (const auto& [x, y] : line.points) xs_.insert(x);
    }
  }
  [[nodiscard]] const std::set<double>& xs() const { return xs_; }
  [[nodiscard]] double x(double value) const {
    if (xs_.size() < 2) return (kLeft + kWidth - kRight) / 2;
    const double first = std::log(*xs_.begin());
    const double span = std::log(*xs_.rbegin()) - first;
    return kLeft + (std::log(value) - first) / span * (kWidth - kLeft - kRight);
  }
  static double y(double value) { return kHeight - kBottom - value * (kHeight - kTop - kBottom); }

 private:
  std::set<double> xs_;
};

std::string axes(const Chart& chart, const Scale& scale) {
  std::string svg;
  for (int tenth = 0; tenth <= 10; tenth += 2) {
    const double y = Scale::y(tenth / 10.0);
    svg +=
        format("<line x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f' stroke='#ddd'/>", kLeft, kWidth - kRight, y, y);
    svg += format("<text x='%.1f' y='%.1f' text-anchor='end'>%.1f</text>\n", kLeft - 6, y + 4, tenth / 10.0);
  }
  for (const double value : scale.xs()) {
    svg += format("<text x='%.1f' y='%.1f' text-anchor='middle'>%g</text>\n", scale.x(value),
                  kHeight - kBottom + 18, value);
  }
  svg +=
      format("<text x='%.1f' y='%.1f' text-anchor='middle'>", (kLeft + kWidth - kRight) / 2, kHeight - 10) +
      escape_html(chart.x_label) + "</text>\n";
  svg += format("<text x='%.1f' y='24'>", kLeft) + escape_html(chart.y_label) + "</text>\n";
  return svg;
}

std::string line_of(const ChartLine& line, const Scale& scale, const char* colour) {
  const std::string name = escape_html(line.name);
  std::string svg = format("<polyline fill='none' stroke='%s' stroke-width='2'%s points='", colour,
                           line.is_dashed ? " stroke-dasharray='6 4'" : "");
  for (const auto& [x, y] : line.points) svg += format("%.1f,%.1f ", scale.x(x), Scale::y(y));
  svg += "'/>\n";
  for (const auto& [x, y] : line.points) {
    svg += format("<circle cx='%.1f' cy='%.1f' r='4' fill='%s'><title>", scale.x(x), Scale::y(y), colour) +
           name + format(": %.4f at %g</title></circle>\n", y, x);
  }
  return svg;
}

// The names from the best line at the right end down, each beside its colour.
std::string legend(const Chart& chart) {
  std::vector<std::size_t> order(chart.lines.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto last = [&](std::size_t i) {
    const auto& points = chart.lines[i].points;
    return points.empty() ? 0 : points.back().second;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return last(a) > last(b); });
  std::string svg;
  for (std::size_t row = 0; row < order.size(); ++row) {
    const double y = kTop + 10 + static_cast<double>(row) * kRowHeight;
    svg += format("<rect x='%.1f' y='%.1f' width='12' height='12' fill='%s'/>", kWidth - kRight + 16, y - 10,
                  kColours[order[row] % kColours.size()]);
    svg += format("<text x='%.1f' y='%.1f'>", kWidth - kRight + 34, y) +
           escape_html(chart.lines[order[row]].name) + "</text>\n";
  }
  return svg;
}

}  // namespace

std::string to_svg(const Chart& chart) {
  const Scale scale(chart);
  std::string svg =
      format("<svg viewBox='0 0 %.0f %.0f' width='%.0f' role='img'><title>", kWidth, kHeight, kWidth) +
      escape_html(chart.title) + "</title>\n" + axes(chart, scale);
  for (std::size_t i = 0; i < chart.lines.size(); ++i)
    svg += line_of(chart.lines[i], scale, kColours[i % kColours.size()]);
  return svg + legend(chart) + "</svg>\n";
}

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace kvtier::sim
