#pragma once
// One key=value of a log line. Values are numbers and short words; never tokens, prompts or block bytes.

#include <concepts>
#include <cstdint>
#include <string_view>
#include <variant>

namespace kvtier {

struct LogField {
  std::string_view key;  ///< snake_case word
  std::variant<std::int64_t, std::uint64_t, double, bool, std::string_view> value;

  constexpr LogField(std::string_view name, bool number) : key(name), value(number) {}
  template <std::signed_integral T>
  constexpr LogField(std::string_view name, T number) : key(name), value(std::int64_t{number}) {}
  template <std::unsigned_integral T>
  constexpr LogField(std::string_view name, T number) : key(name), value(std::uint64_t{number}) {}
  constexpr LogField(std::string_view name, double number) : key(name), value(number) {}
  constexpr LogField(std::string_view name, std::string_view text) : key(name), value(text) {}
  constexpr LogField(std::string_view name, const char* text) : key(name), value(std::string_view(text)) {}
};

}  // namespace kvtier
