#pragma once
// Log lines as bytes. Control characters are escaped: a name that a client chose cannot forge a line.

#include <span>
#include <string>
#include <string_view>

#include "daemon/observe/log_field.h"

namespace kvtier {

/// message key=value key="two words"
std::string log_line_text(std::string_view message, std::span<const LogField> fields);

/// "message":"...","key":1 without braces: time and level come before it.
std::string log_line_json(std::string_view message, std::span<const LogField> fields);

/// The texts among the values: what tells one event of a message from another.
std::string log_detail(std::span<const LogField> fields);

/// A value alone, unquoted.
std::string log_value_text(const LogField& field);

}  // namespace kvtier
