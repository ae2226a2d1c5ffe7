#pragma once
// From the text of a source to a checked value. Strict: one spelling for a number, units where units are due.

#include <string_view>

#include "daemon/config/setting.h"
#include "libkvclient/base/result.h"

namespace kvtier {

/// A scalar as a source wrote it.
struct SettingText {
  std::string_view text;
  bool is_quoted = false;  ///< a quoted number is a text, so a wrong type
};

/// kInvalid: "what is wrong; what to write". Not for lists.
Result<SettingValue> parse_setting(const SettingInfo& info, SettingText text);

/// "1GiB .. 64TiB", "off, try or require": what parse_setting accepts, for help and messages.
std::string accepted_values(const SettingInfo& info);

}  // namespace kvtier
