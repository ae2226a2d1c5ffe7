#pragma once
// Words about logs that configuration, daemon log and client library share.

#include <cstdint>

namespace kvtier {

enum class LogLevel : std::uint8_t { kTrace, kDebug, kInfo, kWarn, kError, kOff };
enum class LogTarget : std::uint8_t { kStderr, kJournal };

}  // namespace kvtier
