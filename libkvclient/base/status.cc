#include "libkvclient/base/status.h"

#include <array>
#include <system_error>

namespace kvtier {

std::string_view code_name(Code code) {
  static constexpr std::array<std::string_view, kCodeCount> kNames = {
      "ok",       "invalid", "not_found", "exists",  "pending", "no_space",    "denied", "unavailable",
      "deadline", "stale",   "version",   "corrupt", "busy",    "unsupported", "system"};
  const auto index = static_cast<std::size_t>(code);
  return index < kNames.size() ? kNames[index] : "unknown";
}

Status Status::from_errno(std::string_view call, int error_number) {
  const std::error_code error(error_number, std::generic_category());
  return {Code::kSystem,
          std::string(call) + ": " + error.message() + " (errno " + std::to_string(error_number) + ")"};
}

Status Status::while_doing(std::string_view action) const {
  if (is_ok()) return *this;
  return {code_, std::string(action) + ": " + message_};
}

std::string Status::to_string() const {
  std::string text(code_name(code_));
  if (!message_.empty()) text += ": " + message_;
  return text;
}

}  // namespace kvtier
