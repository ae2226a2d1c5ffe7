#pragma once
// Adapter of sd_journal_sendv: one entry with MESSAGE, PRIORITY and a KVTIER_<KEY> field each.

#include <span>
#include <string_view>

#include "daemon/observe/log_field.h"
#include "libkvclient/base/log_level.h"

namespace kvtier {

/// False when there is no journal to take it.
bool journal_send(LogLevel level, std::string_view message, std::span<const LogField> fields);

}  // namespace kvtier
