#pragma once
// Rows as one JSON array, each on a line of its own as it comes, so that a million of them need no memory.

#include <nlohmann/json.hpp>

namespace kvtier::ctl {

class RowPrinter {
 public:
  void add(const nlohmann::ordered_json& row);
  void finish();

 private:
  bool is_begun_ = false;
};

/// One JSON value on a line.
void print_json(const nlohmann::ordered_json& json);
/// The same without the line's end-of-answer mark.
void print_answer(nlohmann::ordered_json answer);

}  // namespace kvtier::ctl
