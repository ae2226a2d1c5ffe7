#include "tools/kvctl/text.h"

#include <algorithm>

#include "libkvclient/base/units.h"

namespace kvtier::ctl {

std::uint64_t number(const Json& row, std::string_view field) {
  const auto value = row.find(std::string(field));
  return value != row.end() && value->is_number_unsigned() ? value->get<std::uint64_t>() : 0;
}

std::string text(const Json& row, std::string_view field) {
  const auto value = row.find(std::string(field));
  return value != row.end() && value->is_string() ? printable(value->get_ref<const std::string&>()) : "";
}

std::string count(const Json& row, std::string_view field) {
  return std::to_string(number(row, field));
}

std::string size(const Json& row, std::string_view field) {
  return format_size(number(row, field));
}

std::string duration_ms(const Json& row, std::string_view field) {
  return format_duration(number(row, field) * kNsPerMs);
}

std::string short_key(const Json& row, std::string_view field) {
  return text(row, field).substr(0, 12);
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  // C1 controls arrive as the two bytes c2 80 to c2 9f.
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    if (static_cast<unsigned char>(out[i]) != 0xc2 || static_cast<unsigned char>(out[i + 1]) >= 0xa0)
      continue;
    out.replace(i, 2, "?");
  }
  return out;
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace kvtier::ctl
