#pragma once
// Log levels, shared by configuration, daemon log and client library.

#include <cstdint>

namespace kvtier {

enum class LogLevel : std::uint8_t { kTrace, kDebug, kInfo, kWarn, kError, kOff };

}  // namespace kvtier
