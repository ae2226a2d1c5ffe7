#include "tools/kvctl/whole_number.h"

#include <charconv>

#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

bool is_whole_number(const std::string& text, std::uint64_t min, std::uint64_t max) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, value);
  const bool is_octal_elsewhere = text.size() > 1 && text.front() == '0';
  return error == std::errc() && after == end && !is_octal_elsewhere && value >= min && value <= max;
}

}  // namespace

CLI::Validator whole_number(std::uint64_t min, std::uint64_t max) {
  const bool has_max = max != ~std::uint64_t{0};
  const std::string range = std::to_string(min) + (has_max ? " to " + std::to_string(max) : " or more");
  return {[=](const std::string& text) {
            if (is_whole_number(text, min, max)) return std::string();
            return "must be a whole number of " + range + ", not " + printable(text);
          },
          range};
}

}  // namespace kvtier::ctl
