#include "tools/kvctl/table.h"

#include <algorithm>

#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

std::string padded(const std::string& text, std::size_t width, bool is_right) {
  const std::string space(width - std::min(width, columns_of(text)), ' ');
  return is_right ? space + text : text + space;
}

}  // namespace

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    widths.push_back(columns_of(columns_[c].title));
    for (const auto& row : rows_) widths[c] = std::max(widths[c], columns_of(row[c]));
  }
  std::string out;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c)
      line += (c == 0 ? "" : "  ") + padded(cell_of(c), widths[c], columns_[c].is_right);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  };
  add_line([&](std::size_t c) { return columns_[c].title; });
  for (const auto& row : rows_) add_line([&](std::size_t c) { return row[c]; });
  return out;
}

}  // namespace kvtier::ctl
