#include "daemon/observe/journal.h"

#include <sys/uio.h>
#include <syslog.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "daemon/observe/log_text.h"

namespace kvtier {
namespace {

constexpr const char* kJournalSocket = "/run/systemd/journal/socket";

int priority_of(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return LOG_ERR;
    case LogLevel::kWarn:
      return LOG_WARNING;
    case LogLevel::kInfo:
      return LOG_INFO;
    default:
      return LOG_DEBUG;
  }
}

std::string field_name(std::string_view key) {
  std::string name = "KVTIER_";
  for (const char c : key) name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

}  // namespace

bool journal_send(LogLevel level, std::string_view message, std::span<const LogField> fields) {
  // The library reports success when nobody listens.
  if (access(kJournalSocket, W_OK) != 0) return false;
  std::vector<std::string> entry = {"MESSAGE=" + log_line_text(message, fields),
                                    "PRIORITY=" + std::to_string(priority_of(level)),
                                    "SYSLOG_IDENTIFIER=kvtierd"};
  for (const LogField& field : fields) entry.push_back(field_name(field.key) + "=" + log_value_text(field));
  std::vector<iovec> parts;
  parts.reserve(entry.size());
  for (std::string& each : entry) parts.push_back({each.data(), each.size()});
  return sd_journal_sendv(parts.data(), static_cast<int>(parts.size())) == 0;
}

}  // namespace kvtier
