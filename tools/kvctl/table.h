#pragma once
// Columns for people: numbers to the right, texts to the left.

#include <string>
#include <vector>

namespace kvtier::ctl {

class Table {
 public:
  struct Column {
    std::string title;
    bool is_right = false;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool is_empty() const { return rows_.empty(); }
  /// Title line and rows.
  [[nodiscard]] std::string text() const;

 private:
  const std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace kvtier::ctl
