#include "tools/kvctl/row_printer.h"

#include <cstdio>
#include <string>

namespace kvtier::ctl {
namespace {

std::string dumped(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

void RowPrinter::add(const nlohmann::ordered_json& row) {
  std::fputs(is_begun_ ? ",\n" : "[\n", stdout);
  std::fputs(dumped(row).c_str(), stdout);
  is_begun_ = true;
}

void RowPrinter::finish() {
  std::fputs(is_begun_ ? "\n]\n" : "[]\n", stdout);
}

void print_json(const nlohmann::ordered_json& json) {
  std::puts(dumped(json).c_str());
}

void print_answer(nlohmann::ordered_json answer) {
  answer.erase("done");
  print_json(answer);
}

}  // namespace kvtier::ctl
