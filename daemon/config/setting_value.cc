#include "daemon/config/setting_value.h"

#include <algorithm>
#include <cctype>

#include "daemon/config/nearest_name.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

Status wrong(std::string what, std::string fix) {
  return {Code::kInvalid, std::move(what) + "; " + std::move(fix)};
}

std::string quoted(std::string_view text) {
  return "\"" + std::string(text.substr(0, 80)) + (text.size() > 80 ? "...\"" : "\"");
}

Result<std::uint64_t> parse_whole(std::string_view text) {
  const bool has_sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  if (has_sign) return wrong(quoted(text) + " has a sign", "write a whole number without one");
  if (text.empty() || !std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }))
    return wrong(quoted(text) + " is not a whole number", "write decimal digits only, such as 4096");
  if (text.size() > 1 && text[0] == '0')
    return wrong(quoted(text) + " has a leading zero", "write it without (other readers take it as octal)");
  std::uint64_t number = 0;
  for (const char c : text) {
    if (__builtin_mul_overflow(number, 10ULL, &number) ||
        __builtin_add_overflow(number, static_cast<std::uint64_t>(c - '0'), &number))
      return wrong(quoted(text) + " does not fit 64 bits", "write a smaller number");
  }
  return number;
}

Result<SettingValue> in_range(const SettingInfo& info, Result<std::uint64_t> number, std::string text) {
  if (!number.is_ok()) return number.status();
  if (number.value() < info.min || number.value() > info.max)
    return wrong(quoted(text) + " is out of range", "write " + accepted_values(info));
  return SettingValue{number.value(), std::move(text), {}};
}

Result<SettingValue> parse_size_setting(const SettingInfo& info, std::string_view text) {
  Result<std::uint64_t> bytes = parse_size(text);
  if (!bytes.is_ok()) return wrong(bytes.status().message(), "write a size such as 5GiB");
  return in_range(info, std::move(bytes), std::string(text));
}

Result<SettingValue> parse_percent(const SettingInfo& info, std::string_view text) {
  if (text.empty() || text.back() != '%')
    return wrong(quoted(text) + " needs a percent sign", "write a share such as 25%");
  return in_range(info, parse_whole(text.substr(0, text.size() - 1)), std::string(text));
}

Result<SettingValue> parse_bool(std::string_view text) {
  if (text == "true") return SettingValue{1, "true", {}};
  if (text == "false") return SettingValue{0, "false", {}};
  return wrong(quoted(text) + " is neither true nor false", "write true or false");
}

Result<SettingValue> parse_choice(const SettingInfo& info, std::string_view text) {
  const std::vector<std::string_view> choices = split_names(info.choices, '|');
  const auto at = std::ranges::find(choices, text);
  if (at != choices.end())
    return SettingValue{static_cast<std::uint64_t>(at - choices.begin()), std::string(text), {}};
  const std::string_view nearest = nearest_name(text, choices);
  std::string fix = "write " + accepted_values(info);
  if (!nearest.empty()) fix += " (did you mean " + std::string(nearest) + "?)";
  return wrong(quoted(text) + " is not a choice", fix);
}

bool is_name(std::string_view text) {
  const auto is_word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (text.empty() || !is_word(text[0])) return false;
  return std::ranges::all_of(text, [&](char c) { return is_word(c) || c == '.' || c == '_' || c == '-'; });
}

Result<SettingValue> parse_text(const SettingInfo& info, std::string_view text) {
  if (text.size() < info.min) return wrong("is empty", "write " + accepted_values(info));
  if (text.size() > info.max)
    return wrong(quoted(text) + " has " + std::to_string(text.size()) + " characters",
                 "write at most " + std::to_string(info.max));
  if (std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    return wrong("has a control character", "write printable characters");
  if (info.type == SettingType::kPath && text[0] != '/')
    return wrong(quoted(text) + " is not an absolute path", "begin it with /");
  if (info.type == SettingType::kName && !is_name(text))
    return wrong(quoted(text) + " is not a name",
                 "write a-z, 0-9, '.', '_' and '-', first a letter or digit");
  return SettingValue{0, std::string(text), {}};
}

bool may_be_quoted(SettingType type) {
  return type != SettingType::kCount && type != SettingType::kBool;
}

}  // namespace

Result<SettingValue> parse_setting(const SettingInfo& info, SettingText text) {
  if (text.is_quoted && !may_be_quoted(info.type))
    return wrong(quoted(text.text) + " is a text in quotes",
                 "write " + accepted_values(info) + " without quotes");
  switch (info.type) {
    case SettingType::kSize:
      return parse_size_setting(info, text.text);
    case SettingType::kCount:
      return in_range(info, parse_whole(text.text), std::string(text.text));
    case SettingType::kPercent:
      return parse_percent(info, text.text);
    case SettingType::kBool:
      return parse_bool(text.text);
    case SettingType::kChoice:
      return parse_choice(info, text.text);
    case SettingType::kPath:
    case SettingType::kName:
    case SettingType::kText:
      return parse_text(info, text.text);
    case SettingType::kUserList:
    case SettingType::kGroupList:
      break;
  }
  return wrong("is a list", "write it in the file, as [a, b]");
}

std::string accepted_values(const SettingInfo& info) {
  const std::string low = std::to_string(info.min);
  const std::string high = std::to_string(info.max);
  switch (info.type) {
    case SettingType::kSize:
      return "a size from " + format_size(info.min) + " to " + format_size(info.max);
    case SettingType::kCount:
      return "a whole number from " + low + " to " + high;
    case SettingType::kPercent:
      return "a share from " + low + "% to " + high + "%";
    case SettingType::kBool:
      return "true or false";
    case SettingType::kChoice:
      return "one of " + joined_names(split_names(info.choices, '|'));
    case SettingType::kPath:
      return "an absolute path of at most " + high + " characters";
    case SettingType::kName:
      return "a name of at most " + high + " characters from a-z, 0-9, '.', '_', '-'";
    case SettingType::kText:
      return "a text of " + low + " to " + high + " characters";
    case SettingType::kUserList:
      return "a list of user names or uids, such as [vllm, 1000]";
    case SettingType::kGroupList:
      return "a list of group names or gids, such as [gpu, 44]";
  }
  return {};
}

}  // namespace kvtier
