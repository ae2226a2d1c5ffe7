#include "daemon/observe/log_text.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace kvtier {
namespace {

constexpr std::size_t kTextBytesMax = 1024;  // of one value

template <class Number>
std::string number_text(Number number) {
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return {buffer.data(), end};
}
template <>
std::string number_text(bool number) {
  return number ? "true" : "false";
}

void append_escaped(std::string& to, std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char c : text.substr(0, kTextBytesMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      to += '\\';
      to += c;
    } else if (c == '\n') {
      to += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      to += "\\u00";
      to += kDigits[byte >> 4];
      to += kDigits[byte & 15];
    } else {
      to += c;
    }
  }
  if (text.size() > kTextBytesMax) to += "...";
}

std::string quoted(std::string_view text) {
  std::string all = "\"";
  append_escaped(all, text);
  return all + "\"";
}

bool is_plain(std::string_view text) {
  const auto is_word = [](unsigned char c) {
    return c > 0x20 && c != 0x7f && c != '"' && c != '\\' && c != '=';
  };
  return !text.empty() && text.size() <= kTextBytesMax && std::ranges::all_of(text, is_word);
}

}  // namespace

std::string log_value_text(const LogField& field) {
  return std::visit(
      [](const auto& value) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string_view>) {
          return std::string(value);
        } else {
          return number_text(value);
        }
      },
      field.value);
}

std::string log_detail(std::span<const LogField> fields) {
  std::string detail;
  for (const LogField& field : fields) {
    const auto* text = std::get_if<std::string_view>(&field.value);
    if (text != nullptr) detail.append(field.key).append("=").append(*text).append(1, '\0');
  }
  return detail;
}

std::string log_line_text(std::string_view message, std::span<const LogField> fields) {
  std::string line;
  append_escaped(line, message);
  for (const LogField& field : fields) {
    const std::string value = log_value_text(field);
    line += ' ';
    line += field.key;
    line += '=';
    line += is_plain(value) ? value : quoted(value);
  }
  return line;
}

std::string log_line_json(std::string_view message, std::span<const LogField> fields) {
  std::string line = "\"message\":" + quoted(message);
  for (const LogField& field : fields) {
    const bool is_text = std::holds_alternative<std::string_view>(field.value);
    const std::string value = log_value_text(field);
    // JSON has no inf and nan.
    const bool is_number =
        !is_text && value.find_first_of("fi") != 0 && value.find("nan") == std::string::npos;
    const bool is_bare =
        std::holds_alternative<bool>(field.value) || (is_number && value.find("inf") == std::string::npos);
    line += "," + quoted(field.key) + ":" + (is_bare ? value : quoted(value));
  }
  return line;
}

}  // namespace kvtier
